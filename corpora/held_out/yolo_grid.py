import random
from collections import Counter
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

"""
YOLO-v1 from scratch homework (multi-box grid loss, NMS, mAP)
architecture config: tuple = (kernel, filters, stride, padding), "M" = maxpool,
list = [tuple, tuple, repeats]
"""
architecture_config = [
    (5, 10, 2, 2),
    "M",
    (3, 14, 1, 1),
    [(1, 9, 1, 0), (3, 14, 1, 1), 2],
    "M",
    (3, 22, 1, 1),
]

IMG, S, B, C = 48, 6, 2, 3
LEARNING_RATE = 3e-3
BATCH_SIZE = 9
EPOCHS = 4
ANCHOR_NOOBJ = 0.5
ANCHOR_COORD = 5


def intersection_over_union(boxes_preds, boxes_labels, box_format="midpoint"):
    if box_format == "midpoint":
        box1_x1 = boxes_preds[..., 0:1] - boxes_preds[..., 2:3] / 2
        box1_y1 = boxes_preds[..., 1:2] - boxes_preds[..., 3:4] / 2
        box1_x2 = boxes_preds[..., 0:1] + boxes_preds[..., 2:3] / 2
        box1_y2 = boxes_preds[..., 1:2] + boxes_preds[..., 3:4] / 2
        box2_x1 = boxes_labels[..., 0:1] - boxes_labels[..., 2:3] / 2
        box2_y1 = boxes_labels[..., 1:2] - boxes_labels[..., 3:4] / 2
        box2_x2 = boxes_labels[..., 0:1] + boxes_labels[..., 2:3] / 2
        box2_y2 = boxes_labels[..., 1:2] + boxes_labels[..., 3:4] / 2
    else:
        box1_x1, box1_y1, box1_x2, box1_y2 = boxes_preds.split(1, -1)
        box2_x1, box2_y1, box2_x2, box2_y2 = boxes_labels.split(1, -1)
    x1 = torch.max(box1_x1, box2_x1)
    y1 = torch.max(box1_y1, box2_y1)
    x2 = torch.min(box1_x2, box2_x2)
    y2 = torch.min(box1_y2, box2_y2)
    intersection = (x2 - x1).clamp(0) * (y2 - y1).clamp(0)
    box1_area = abs((box1_x2 - box1_x1) * (box1_y2 - box1_y1))
    box2_area = abs((box2_x2 - box2_x1) * (box2_y2 - box2_y1))
    return intersection / (box1_area + box2_area - intersection + 1e-6)


def non_max_suppression(bboxes, iou_threshold, threshold):
    """bboxes: list of [class, prob, x, y, w, h]"""
    bboxes = [box for box in bboxes if box[1] > threshold]
    bboxes = sorted(bboxes, key=lambda x: x[1], reverse=True)
    keep = []
    while bboxes:
        chosen = bboxes.pop(0)
        bboxes = [
            box for box in bboxes
            if box[0] != chosen[0]
            or intersection_over_union(torch.tensor(chosen[2:]), torch.tensor(box[2:])).item() < iou_threshold
        ]
        keep.append(chosen)
    return keep


def mean_average_precision(pred_boxes, true_boxes, iou_threshold=0.3, num_classes=C):
    average_precisions = []
    for c in range(num_classes):
        detections = [d for d in pred_boxes if d[1] == c]
        ground_truths = [t for t in true_boxes if t[1] == c]
        if len(ground_truths) == 0:
            continue
        amount = Counter([gt[0] for gt in ground_truths])
        amount = {k: torch.zeros(v) for k, v in amount.items()}
        detections.sort(key=lambda x: x[2], reverse=True)
        TP, FP = torch.zeros(len(detections)), torch.zeros(len(detections))
        for detection_idx, detection in enumerate(detections):
            gts = [g for g in ground_truths if g[0] == detection[0]]
            best_iou, best_gt_idx = 0, None
            for idx, gt in enumerate(gts):
                iou = intersection_over_union(torch.tensor(detection[3:]), torch.tensor(gt[3:]))
                if iou > best_iou:
                    best_iou, best_gt_idx = iou, idx
            if best_iou > iou_threshold and amount[detection[0]][best_gt_idx] == 0:
                TP[detection_idx] = 1
                amount[detection[0]][best_gt_idx] = 1
            else:
                FP[detection_idx] = 1
        TP_cumsum, FP_cumsum = torch.cumsum(TP, dim=0), torch.cumsum(FP, dim=0)
        recalls = TP_cumsum / (len(ground_truths) + 1e-6)
        precisions = TP_cumsum / (TP_cumsum + FP_cumsum + 1e-6)
        precisions = torch.cat((torch.tensor([1.0]), precisions))
        recalls = torch.cat((torch.tensor([0.0]), recalls))
        average_precisions.append(torch.trapz(precisions, recalls))
    return sum(average_precisions) / max(len(average_precisions), 1)


class ShapesVOC(Dataset):
    def __init__(self, n, seed):
        self.rng = random.Random(seed)
        self.annotations = [self._annotate() for _ in range(n)]

    def _annotate(self):
        boxes = []
        for _ in range(self.rng.randint(1, 3)):
            w, h = self.rng.uniform(0.15, 0.4), self.rng.uniform(0.15, 0.4)
            x, y = self.rng.uniform(w / 2, 1 - w / 2), self.rng.uniform(h / 2, 1 - h / 2)
            boxes.append([self.rng.randrange(C), x, y, w, h])
        return boxes

    def __len__(self):
        return len(self.annotations)

    def __getitem__(self, index):
        image = torch.rand(3, IMG, IMG) * 0.15
        label_matrix = torch.zeros((S, S, C + 5 * B))
        for class_label, x, y, width, height in self.annotations[index]:
            y0, y1 = int((y - height / 2) * IMG), int((y + height / 2) * IMG)
            x0, x1 = int((x - width / 2) * IMG), int((x + width / 2) * IMG)
            image[class_label, y0:y1, x0:x1] = 1.0
            image[(class_label + 1) % 3, y0:y1:2, x0:x1] += 0.4
            i, j = int(S * y), int(S * x)
            x_cell, y_cell = S * x - j, S * y - i
            if label_matrix[i, j, C] == 0:
                label_matrix[i, j, C] = 1
                label_matrix[i, j, C + 1:C + 5] = torch.tensor([x_cell, y_cell, width * S, height * S])
                label_matrix[i, j, class_label] = 1
        return image, label_matrix


class CNNBlock(nn.Module):
    def __init__(self, in_channels, out_channels, **kwargs):
        super(CNNBlock, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.batchnorm = nn.BatchNorm2d(out_channels)
        self.leakyrelu = nn.LeakyReLU(0.1)

    def forward(self, x):
        return self.leakyrelu(self.batchnorm(self.conv(x)))


class Yolov1(nn.Module):
    def __init__(self, in_channels=3, **kwargs):
        super(Yolov1, self).__init__()
        self.in_channels = in_channels
        self.darknet = self._create_conv_layers(architecture_config)
        self.fcs = self._create_fcs(**kwargs)

    def forward(self, x):
        x = self.darknet(x)
        return self.fcs(torch.flatten(x, start_dim=1))

    def _create_conv_layers(self, architecture):
        layers, in_channels = [], self.in_channels
        for x in architecture:
            if type(x) == tuple:
                layers += [CNNBlock(in_channels, x[1], kernel_size=x[0], stride=x[2], padding=x[3])]
                in_channels = x[1]
            elif type(x) == str:
                layers += [nn.MaxPool2d(kernel_size=(2, 2), stride=(2, 2))]
            elif type(x) == list:
                for _ in range(x[2]):
                    for k, f, s, p in x[:2]:
                        layers += [CNNBlock(in_channels, f, kernel_size=k, stride=s, padding=p)]
                        in_channels = f
        self.out_channels = in_channels
        return nn.Sequential(*layers)

    def _create_fcs(self, split_size, num_boxes, num_classes):
        return nn.Sequential(
            nn.Linear(self.out_channels * split_size * split_size, 90),
            nn.Dropout(0.1), nn.LeakyReLU(0.1),
            nn.Linear(90, split_size * split_size * (num_classes + num_boxes * 5)))


class YoloLoss(nn.Module):
    def __init__(self):
        super(YoloLoss, self).__init__()
        self.mse = nn.MSELoss(reduction="sum")

    def forward(self, predictions, target):
        predictions = predictions.reshape(-1, S, S, C + B * 5)
        ious = torch.stack([intersection_over_union(predictions[..., C + 1 + 5 * b:C + 5 + 5 * b],
                                                    target[..., C + 1:C + 5]) for b in range(B)], dim=0)
        bestbox = ious.max(dim=0)[1].float()
        exists_box = target[..., C].unsqueeze(3)
        box_predictions = exists_box * (bestbox * predictions[..., C + 6:C + 10]
                                        + (1 - bestbox) * predictions[..., C + 1:C + 5])
        box_targets = exists_box * target[..., C + 1:C + 5]
        xy = box_predictions[..., :2]
        wh = torch.sign(box_predictions[..., 2:4]) * torch.sqrt(torch.abs(box_predictions[..., 2:4] + 1e-6))
        wh_t = torch.sqrt(box_targets[..., 2:4])
        box_loss = self.mse(torch.flatten(torch.cat([xy, wh], -1), end_dim=-2),
                            torch.flatten(torch.cat([box_targets[..., :2], wh_t], -1), end_dim=-2))
        pred_box = bestbox * predictions[..., C + 5:C + 6] + (1 - bestbox) * predictions[..., C:C + 1]
        object_loss = self.mse(torch.flatten(exists_box * pred_box), torch.flatten(exists_box * target[..., C:C + 1]))
        no_object_loss = sum(self.mse(torch.flatten((1 - exists_box) * predictions[..., k:k + 1], start_dim=1),
                                      torch.flatten((1 - exists_box) * target[..., C:C + 1], start_dim=1))
                             for k in (C, C + 5))
        class_loss = self.mse(torch.flatten(exists_box * predictions[..., :C], end_dim=-2),
                              torch.flatten(exists_box * target[..., :C], end_dim=-2))
        return (ANCHOR_COORD * box_loss + object_loss + ANCHOR_NOOBJ * no_object_loss + class_loss) / target.size(0)


def cellboxes_to_boxes(out):
    out = out.reshape(out.shape[0], S, S, -1)
    scores = torch.cat((out[..., C].unsqueeze(0), out[..., C + 5].unsqueeze(0)), dim=0)
    best_box = scores.argmax(0).unsqueeze(-1)
    boxes = out[..., C + 1:C + 5] * (1 - best_box) + best_box * out[..., C + 6:C + 10]
    cell_indices = torch.arange(S).repeat(out.shape[0], S, 1).unsqueeze(-1)
    x = 1 / S * (boxes[..., :1] + cell_indices)
    y = 1 / S * (boxes[..., 1:2] + cell_indices.permute(0, 2, 1, 3))
    converted = torch.cat((out[..., :C].argmax(-1).unsqueeze(-1), scores.max(0)[0].unsqueeze(-1),
                           x, y, 1 / S * boxes[..., 2:4]), dim=-1)
    return converted.reshape(out.shape[0], S * S, -1).tolist()


def main():
    torch.manual_seed(123)
    train_loader = DataLoader(ShapesVOC(72, 1), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    test_loader = DataLoader(ShapesVOC(14, 2), batch_size=5)
    model = Yolov1(split_size=S, num_boxes=B, num_classes=C)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    loss_fn = YoloLoss()
    for epoch in range(EPOCHS):
        mean_loss = []
        for x, y in train_loader:
            loss = loss_fn(model(x), y)
            mean_loss.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} mean loss was {sum(mean_loss) / len(mean_loss):.3f}")
    model.eval()
    preds, trues, idx = [], [], 0
    for x, y in test_loader:
        with torch.no_grad():
            p, t = cellboxes_to_boxes(model(x)), cellboxes_to_boxes(y)
        for k in range(x.shape[0]):
            preds += [[idx] + b for b in non_max_suppression(p[k], 0.5, 0.3)]
            trues += [[idx] + b for b in t[k] if b[1] > 0.4]
            idx += 1
    print("boxes %d / %d, mAP@0.3 %.4f" % (len(preds), len(trues), float(mean_average_precision(preds, trues))))


if __name__ == "__main__":
    main()
