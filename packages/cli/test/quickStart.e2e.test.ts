/** Runs the commands of `docs/quick-start.md` in order, with the packages of this workspace instead of npm's. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { type RunningCommand, Terminal } from "./projects/Terminal.ts"

const page = readFileSync(new URL("../../../docs/quick-start.md", import.meta.url), "utf8")

const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) => block.trim().split("\n"))

describe("the quick start", () => {
  it("has five commands that work as described", { timeout: 300_000 }, async () => {
    assert.lengthOf(commands, 5)
    using terminal = new Terminal()
    let folder = "."
    let dev: RunningCommand | null = null
    const did: Array<string> = []
    for (const command of commands) {
      const [, args] = /^npx weft (.*)$/.exec(command) ?? []
      const [, into] = /^cd (\S+) && npm install$/.exec(command) ?? []
      const [, url] = /^curl '(\S+)'$/.exec(command) ?? []
      if (into !== undefined) {
        folder = into
        terminal.install(folder, ["@weft/sdk", "zod"])
        did.push("install")
      } else if (args === "dev") {
        dev = terminal.begin(folder, ["dev"])
        await dev.waitFor("main/hourly  next at")
        did.push("dev")
      } else if (args !== undefined) {
        const { code, stdout, stderr } = await terminal.run(folder, args.split(" "))
        assert.strictEqual(code, 0, stderr)
        if (args === "deploy") assert.match(stdout, /^deployed [0-9a-f-]{36}$/m)
        did.push(args)
      } else if (url !== undefined && dev !== null) {
        // If the default port is in use, the server listens on the next free one.
        const [origin = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(dev.output()) ?? []
        const answer = await fetch(url.replace("http://127.0.0.1:8787", origin))
        assert.deepStrictEqual(await answer.json(), { greeting: "Hello, Ada!" })
        await dev.waitFor(/main\/onGreeted info {2}greeted Ada/)
        did.push("curl")
      } else assert.fail(`This test cannot run the command: ${command}`)
    }
    assert.deepStrictEqual(did, ["init hello", "install", "dev", "curl", "deploy"])
    await dev?.interrupt()
  })
})
