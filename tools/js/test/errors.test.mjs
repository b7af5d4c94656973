import assert from "node:assert/strict";
import { test } from "node:test";

import { messageOf } from "../src/errors.mjs";

test("whatever was thrown has a message", () => {
  assert.equal(messageOf(new TypeError("full")), "full");
  assert.equal(messageOf("gone"), "gone");
  assert.equal(messageOf(undefined), "undefined");
});
