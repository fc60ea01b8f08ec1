# cleanrl-ish PPO, batched toy environment (grid chase), GAE, minibatches
import argparse
import random
import time
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--num-envs", type=int, default=6)
    parser.add_argument("--num-steps", type=int, default=40)
    parser.add_argument("--num-updates", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--anneal-lr", type=lambda s: s.lower() in ("1", "true", "yes"), default=True)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=3)
    parser.add_argument("--norm-adv", action="store_false", default=True)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--clip-vloss", action="store_false", default=True)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    parser.add_argument("--target-kl", type=float, default=0.15)
    args = parser.parse_args()
    args.batch_size = int(args.num_envs * args.num_steps)
    args.minibatch_size = int(args.batch_size // args.num_minibatches)
    return args


class VecGridChase:
    """agent (channel 0) walks to the goal (channel 1), avoiding walls (channel 2)."""

    MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]])

    def __init__(self, n, height=5, width=7, limit=18, seed=0):
        self.n, self.h, self.w, self.limit = n, height, width, limit
        self.rng = np.random.RandomState(seed)
        self.agent = np.zeros((n, 2), dtype=np.int64)
        self.goal = np.zeros((n, 2), dtype=np.int64)
        self.walls = np.zeros((n, height, width), dtype=bool)
        self.t = np.zeros(n, dtype=np.int64)
        self.ret = np.zeros(n)

    def _reset_one(self, i):
        cells = self.rng.permutation(self.h * self.w)
        self.agent[i] = divmod(cells[0], self.w)
        self.goal[i] = divmod(cells[1], self.w)
        self.walls[i] = False
        self.walls[i].reshape(-1)[cells[2:5]] = True
        self.t[i], self.ret[i] = 0, 0

    def reset(self):
        for i in range(self.n):
            self._reset_one(i)
        return self._obs()

    def _obs(self):
        o = np.zeros((self.n, 3, self.h, self.w), dtype=np.float32)
        r = np.arange(self.n)
        o[r, 0, self.agent[:, 0], self.agent[:, 1]] = 1
        o[r, 1, self.goal[:, 0], self.goal[:, 1]] = 1
        o[:, 2] = self.walls
        return o

    def action_mask(self):
        nxt = self.agent[:, None] + self.MOVES[None]
        return ((nxt >= 0) & (nxt < np.array([self.h, self.w]))).all(-1)

    def step(self, a):
        nxt = np.clip(self.agent + self.MOVES[a], 0, [self.h - 1, self.w - 1])
        hit = self.walls[np.arange(self.n), nxt[:, 0], nxt[:, 1]]
        before = np.abs(self.agent - self.goal).sum(1)
        self.agent = np.where(hit[:, None], self.agent, nxt)
        after = np.abs(self.agent - self.goal).sum(1)
        self.t += 1
        reached = after == 0
        rew = 0.1 * (before - after) - 0.05 * hit + 1.0 * reached - 0.01
        self.ret += rew
        done = reached | (self.t >= self.limit)
        infos = []
        for i in np.flatnonzero(done):
            infos.append({"r": self.ret[i], "l": self.t[i], "success": bool(reached[i])})
            self._reset_one(i)
        return self._obs(), rew.astype(np.float32), done, infos


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class CategoricalMasked(Categorical):
    def __init__(self, logits, mask):
        self.masks = mask
        super().__init__(logits=torch.where(mask, logits, torch.tensor(-1e8)))

    def entropy(self):
        p_log_p = self.logits * self.probs
        p_log_p = torch.where(self.masks, p_log_p, torch.tensor(0.0))
        return -p_log_p.sum(-1)


class Agent(nn.Module):
    def __init__(self, obs_shape, n_actions):
        super().__init__()
        c, h, w = obs_shape
        self.network = nn.Sequential(
            layer_init(nn.Conv2d(c, 12, 3, padding=1)),
            nn.ReLU(),
            layer_init(nn.Conv2d(12, 10, (2, 3))),
            nn.ReLU(),
            nn.Flatten(),
            layer_init(nn.Linear(10 * (h - 1) * (w - 2), 48)),
            nn.Tanh(),
        )
        self.actor = layer_init(nn.Linear(48, n_actions), std=0.01)
        self.critic = layer_init(nn.Linear(48, 1), std=1)

    def get_value(self, x):
        return self.critic(self.network(x))

    def get_action_and_value(self, x, mask, action=None):
        hidden = self.network(x)
        probs = CategoricalMasked(self.actor(hidden), mask)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden)


def main():
    args = parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    envs = VecGridChase(args.num_envs, seed=args.seed)
    agent = Agent((3, envs.h, envs.w), len(envs.MOVES))
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    obs = torch.zeros((args.num_steps, args.num_envs) + (3, envs.h, envs.w))
    masks = torch.zeros((args.num_steps, args.num_envs, len(envs.MOVES)), dtype=torch.bool)
    actions = torch.zeros((args.num_steps, args.num_envs))
    logprobs = torch.zeros((args.num_steps, args.num_envs))
    rewards = torch.zeros((args.num_steps, args.num_envs))
    dones = torch.zeros((args.num_steps, args.num_envs))
    values = torch.zeros((args.num_steps, args.num_envs))

    global_step, start = 0, time.time()
    next_obs = torch.Tensor(envs.reset())
    next_done = torch.zeros(args.num_envs)
    history = deque(maxlen=40)

    for update in range(1, args.num_updates + 1):
        if args.anneal_lr:
            frac = 1.0 - (update - 1.0) / args.num_updates
            optimizer.param_groups[0]["lr"] = frac * args.learning_rate
        for step in range(0, args.num_steps):
            global_step += args.num_envs
            obs[step] = next_obs
            dones[step] = next_done
            masks[step] = torch.from_numpy(envs.action_mask())
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs, masks[step])
                values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob
            next_obs, reward, done, infos = envs.step(action.cpu().numpy())
            rewards[step] = torch.tensor(reward).view(-1)
            next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(done)
            history.extend(infos)

        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages = torch.zeros_like(rewards)
            lastgaelam = 0
            for t in reversed(range(args.num_steps)):
                if t == args.num_steps - 1:
                    nextnonterminal, nextvalues = 1.0 - next_done, next_value
                else:
                    nextnonterminal, nextvalues = 1.0 - dones[t + 1], values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
            returns = advantages + values

        b_obs = obs.reshape((-1,) + obs.shape[2:])
        b_masks = masks.flatten(0, 1)
        b_logprobs, b_actions = logprobs.reshape(-1), actions.reshape(-1)
        b_advantages, b_returns, b_values = advantages.reshape(-1), returns.reshape(-1), values.reshape(-1)

        b_inds = np.arange(args.batch_size)
        clipfracs = []
        for epoch in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for start_i in range(0, args.batch_size, args.minibatch_size):
                mb = b_inds[start_i:start_i + args.minibatch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                    b_obs[mb], b_masks[mb], b_actions.long()[mb])
                logratio = newlogprob - b_logprobs[mb]
                ratio = logratio.exp()
                with torch.no_grad():
                    approx_kl = ((ratio - 1) - logratio).mean()
                    clipfracs += [((ratio - 1.0).abs() > args.clip_coef).float().mean().item()]
                adv = b_advantages[mb]
                if args.norm_adv:
                    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                pg_loss = torch.max(-adv * ratio,
                                    -adv * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)).mean()
                newvalue = newvalue.view(-1)
                v_loss = (newvalue - b_returns[mb]) ** 2
                if args.clip_vloss:
                    v_clip = b_values[mb] + (newvalue - b_values[mb]).clamp(-args.clip_coef, args.clip_coef)
                    v_loss = torch.max(v_loss, (v_clip - b_returns[mb]) ** 2)
                loss = pg_loss - args.ent_coef * entropy.mean() + 0.5 * v_loss.mean() * args.vf_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
            if args.target_kl is not None and approx_kl > args.target_kl:
                break
        y_pred, y_true = b_values.numpy(), b_returns.numpy()
        var_y = np.var(y_true)
        ev = np.nan if var_y == 0 else 1 - np.var(y_true - y_pred) / var_y
        print(f"upd {update} step {global_step} ret {np.mean([h['r'] for h in history]):.3f} "
              f"succ {np.mean([h['success'] for h in history]):.2f} kl {approx_kl.item():.4f} "
              f"clip {np.mean(clipfracs):.3f} ev {ev:.3f} sps {int(global_step / (time.time() - start))}")


if __name__ == "__main__":
    main()
