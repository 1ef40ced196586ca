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

describe("weft eval", () => {
  it("runs a file or stdin, and prints only the result on stdout", async () => {
    writeFileSync(join(harness.folder, "sum.ts"), "svc.log.info('adding'); return args[0] + args[1]")
    const [sum, stdin, failed, broken, missing] = await Promise.all([
      harness.run(["eval", "sum.ts", "1", "2"]),
      harness.json(["eval", "-", "[4]", "--timeout", "5"], { stdin: "args[0].length" }),
      harness.run(["eval", "-"], { stdin: "throw new RangeError('no such rate')" }),
      harness.run(["eval", "-"], { stdin: "1 +" }),
      harness.run(["eval", "none.ts"])
    ])
    assert.deepInclude(sum, { code: 0, stdout: "3\n" })
    assert.match(sum.stderr, /info {2}adding\nsucceeded in .+, processor .+, heap .+, run [0-9a-f-]{36}\n$/)
    assert.deepInclude(stdin, { status: "succeeded", result: 1, run_type: "eval" })
    assert.deepInclude(failed, { code: 1, stdout: "" })
    assert.match(failed.stderr, /^error RangeError: no such rate\n/)
    assert.include(broken.stderr, "source: eval.ts")
    assert.include(missing.stderr, "none.ts cannot be read")
  })
})

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
