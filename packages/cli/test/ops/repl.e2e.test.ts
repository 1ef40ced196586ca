import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { CliHarness } from "./CliHarness.ts"

let harness: CliHarness
beforeAll(async () => {
  harness = await CliHarness.start()
})
afterAll(() => harness.close())

describe("weft repl", () => {
  it("evaluates each statement of stdin, and continues one that is not complete", async () => {
    writeFileSync(join(harness.folder, "rate.ts"), "const rate = 3")
    const stdin = ".load rate.ts\n[rate,\n\n2]\n(svc.log.info('twice'), rate * 2)\n\nmissing\n'last'\n.exit\n1\n"
    const [plain, json] = await Promise.all([
      harness.run(["repl"], { stdin }),
      harness.run(["repl", "--json"], { stdin: "(1 +\n2)" })
    ])
    assert.deepStrictEqual([plain.code, plain.stdout], [1, '[3,2]\n6\n"last"\n'])
    assert.match(plain.stderr, /info {2}twice\nReferenceError: missing is not defined\n/)
    assert.include(plain.stderr, "1 of the inputs failed")
    assert.deepInclude(JSON.parse(json.stdout), { run_type: "repl", result: 3, text: "3" })
    assert.strictEqual((await harness.client.repl.list()).total, 0)
  })
})
