"""gpu_choice.py: only GPUs that are really free, the same ones again, and the holders named."""

import unittest

from agent.failure import AgentFailure
from agent.gpu_choice import choose


def gpu(index, used=4, processes=(), reserved=None):
    return {
        "index": index,
        "uuid": "GPU-%d%d" % (index, index),
        "memoryUsedMib": used,
        "processes": list(processes),
        "reservedBy": reserved,
    }


TRAIN = {"pid": 4711, "usedMib": 71196, "user": "bob", "command": "python3 train.py", "serverId": None}
FOUR = [gpu(0), gpu(1, 71200, [TRAIN]), gpu(2), gpu(3, 30000)]


class ChooseTest(unittest.TestCase):
    def refusal(self, *arguments):
        with self.assertRaises(AgentFailure) as caught:
            choose(*arguments)
        return caught.exception

    def test_a_host_without_gpus_gets_none(self):
        self.assertEqual(choose([], {"kind": "none"}, set()), [])

    def test_one_gpu_named_twice_is_refused(self):
        refused = self.refusal(FOUR, {"kind": "list", "ids": [2, 0, "GPU-22"]}, set())
        self.assertEqual(
            (refused.code, refused.summary),
            (
                "GPU_NOT_FOUND",
                "Cannot use GPUs 2 and GPU-22 beside each other: they are one (GPU-22), need different ones",
            ),
        )

    def test_a_count_gets_free_ones_by_index(self):
        self.assertEqual(
            choose(FOUR, {"kind": "count", "count": 2, "prefer": []}, set()), ["GPU-00", "GPU-22"]
        )

    def test_earlier_ones_are_taken_again_in_cuda_order(self):
        six = [gpu(index) for index in range(6)]
        wish = {"kind": "count", "count": 3, "prefer": ["GPU-55", "GPU-44", "GPU-gone"]}
        self.assertEqual(choose(six, wish, set()), ["GPU-00", "GPU-44", "GPU-55"])

    def test_what_this_server_holds_itself_is_free_for_it(self):
        wish = {"kind": "count", "count": 1, "prefer": ["GPU-33"]}
        self.assertEqual(choose(FOUR, wish, {"GPU-33"}), ["GPU-33"])

    def test_a_reserved_one_is_not_free_though_idle(self):
        error = self.refusal(
            [gpu(0, reserved="chat-0a1b2c3d")], {"kind": "count", "count": 1, "prefer": []}, set()
        )
        self.assertEqual(
            (error.code, error.evidence), ("GPUS_NOT_FREE", "GPU 0: 4 MiB used, reserved by chat-0a1b2c3d")
        )

    def test_too_few_free_ones_name_the_holders(self):
        error = self.refusal(FOUR, {"kind": "count", "count": 3, "prefer": []}, set())
        self.assertEqual(
            (error.code, error.summary, error.evidence),
            (
                "GPUS_NOT_FREE",
                "Cannot choose 3 GPUs: 2 of 4 are free, need 3",
                "GPU 1: 71200 MiB used, python3 train.py (pid 4711, user bob); GPU 3: 30000 MiB used",
            ),
        )

    def test_more_than_there_are_is_another_error(self):
        self.assertEqual(
            self.refusal(FOUR, {"kind": "count", "count": 5, "prefer": []}, set()).code, "GPU_NOT_FOUND"
        )

    def test_a_list_is_the_users_word_in_the_users_order(self):
        wish = {"kind": "list", "ids": ["GPU-33", 2, "0", "MIG-abc"]}
        self.assertEqual(choose(FOUR, wish, {"GPU-33"}), ["GPU-33", "GPU-22", "GPU-00", "MIG-abc"])

    def test_a_listed_one_that_somebody_took_since_the_look_names_its_holder(self):
        reserved = gpu(0, reserved="other-0a1b2c3d")
        error = self.refusal([reserved, *FOUR[1:]], {"kind": "list", "ids": [2, 1, 0]}, set())
        self.assertEqual(
            (error.code, error.summary, error.evidence),
            (
                "GPUS_NOT_FREE",
                "Cannot use GPU 0, 1: not free, need them free",
                "GPU 0: 4 MiB used, reserved by other-0a1b2c3d; "
                "GPU 1: 71200 MiB used, python3 train.py (pid 4711, user bob)",
            ),
        )

    def test_a_listed_one_that_is_not_there_names_those_that_are(self):
        for wanted in (7, "GPU-9", "GPU-"):
            error = self.refusal([gpu(0), gpu(1)], {"kind": "list", "ids": [wanted]}, set())
            self.assertEqual(
                (error.code, error.summary),
                (
                    "GPU_NOT_FOUND",
                    f"Cannot use GPU {wanted}: the host has 0 (GPU-00), 1 (GPU-11), need one of them",
                ),
            )
