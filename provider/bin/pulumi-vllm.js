#!/usr/bin/env node
// Of its own, because npm links only what is there when it installs, and dist is built later.
require("../dist/cli/main.js");
