"""hub_login.py: which hub, and as whom, where the declaration leaves it open."""

from agent import hub_login
from agent.failure import AgentFailure

from .bed import HostCase


class HubLoginTest(HostCase):
    def file(self, place, text):
        path = self.home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def test_the_declared_token_comes_before_those_of_the_host(self):
        self.assertEqual(hub_login.token("declared", {"HF_TOKEN": "login"}), "declared")

    def test_a_host_that_is_logged_in_needs_no_token(self):
        self.assertIsNone(hub_login.token(None, {}))
        self.file(".cache/huggingface/token", "of the home\n")
        self.assertEqual(hub_login.token(None, {}), "of the home")
        self.file("xdg/huggingface/token", "of XDG")
        login = {"XDG_CACHE_HOME": str(self.home / "xdg")}
        self.assertEqual(hub_login.token(None, login), "of XDG")
        self.file("hf/token", "of HF_HOME")
        login["HF_HOME"] = "~/hf"
        self.assertEqual(hub_login.token(None, login), "of HF_HOME")
        login["HF_TOKEN_PATH"] = self.file("elsewhere", "of the path")
        self.assertEqual(hub_login.token(None, login), "of the path")
        login["HF_TOKEN"] = " of the variable "
        self.assertEqual(hub_login.token(None, login), "of the variable")
        login["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "1"
        self.assertIsNone(hub_login.token(None, login))

    def test_the_endpoint_is_a_url(self):
        self.assertEqual(hub_login.endpoint("https://mirror/hub/", {}, None), "https://mirror/hub")
        for declared, code in (
            ("mirror", "INPUT_INVALID"),
            ("ftp://mirror", "INPUT_INVALID"),
            (None, "HUB_UNREACHABLE"),
        ):
            with self.assertRaises(AgentFailure) as caught:
                hub_login.endpoint(declared, {}, "/nonexistent/hf")
            self.assertEqual(caught.exception.code, code)
