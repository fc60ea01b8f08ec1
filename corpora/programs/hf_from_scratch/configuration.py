import copy
import json


class PretrainedConfig:
    model_type = ""

    def __init__(self, **kwargs):
        self.output_hidden_states = kwargs.pop("output_hidden_states", False)
        self.num_labels = kwargs.pop("num_labels", 2)
        self.pad_token_id = kwargs.pop("pad_token_id", 0)
        for key, value in kwargs.items():
            setattr(self, key, value)

    def to_dict(self):
        output = copy.deepcopy(self.__dict__)
        output["model_type"] = self.model_type
        return output

    def to_json_string(self):
        return json.dumps(self.to_dict(), indent=2, sort_keys=True)

    @classmethod
    def from_dict(cls, config_dict, **kwargs):
        config = cls(**config_dict)
        for key, value in kwargs.items():
            if hasattr(config, key):
                setattr(config, key, value)
        return config


class TinyDebertaConfig(PretrainedConfig):
    model_type = "tiny-deberta"

    def __init__(
        self,
        vocab_size=61,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=40,
        hidden_act="gelu",
        hidden_dropout_prob=0.1,
        max_position_embeddings=32,
        max_relative_positions=8,
        type_vocab_size=2,
        initializer_range=0.02,
        layer_norm_eps=1e-7,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.max_position_embeddings = max_position_embeddings
        self.max_relative_positions = max_relative_positions
        self.type_vocab_size = type_vocab_size
        self.initializer_range = initializer_range
        self.layer_norm_eps = layer_norm_eps
