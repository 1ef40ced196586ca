import { expect, it } from "vitest"
import { machineTraces } from "../../src/rules/machineTraces.ts"
import { findingsOf } from "../fixture.ts"

// Put together here, or this file would be a finding itself.
const path = (...segments: ReadonlyArray<string>) => ["", ...segments, "a.ts"].join("/")
const host = ["registry", "npmjs", "org"].join(".")

it.each([
  [`see ${path("home", "me")}`, "an absolute path of somebody's machine"],
  [`"${path("root")}"`, "an absolute path of somebody's machine"],
  [path("Users", "me"), "an absolute path of somebody's machine"],
  [`https://${host}/a`, "the host of a registry"],
  [`"${"resolved"}": "https://mirror.test/a.tgz"`, "the lock file names the host a package came from"]
])("refuses %s in any file", (text, message) => {
  expect(findingsOf(machineTraces, { "docs/a.md": `first\n${text}` })).toEqual([`docs/a.md:2 machine-trace ${message}`])
})

it("knows links, relative paths and local packages for what they are", () => {
  const text = ["https://example.test/home/page", "../work/a.ts", "src/root/a.ts", `"resolved": "packages/core"`]
  expect(findingsOf(machineTraces, { "docs/a.md": text.join("\n") })).toEqual([])
})
