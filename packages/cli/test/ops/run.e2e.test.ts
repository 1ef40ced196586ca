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

const nobody = "01890000-0000-7000-8000-000000000000"

describe("weft run", () => {
  it("prints only the result of a function on stdout", async () => {
    const [sum, echo, failed] = await Promise.all([
      harness.run(["run", "main/add", "1", "2", "--", "-5"]),
      harness.json(["run", "shop:main/echo", '"text"', '{"deep":[null]}']),
      harness.run(["run", "main/fail"])
    ])
    assert.deepInclude(sum, { code: 0, stdout: "-2\n" })
    assert.match(sum.stderr, /^succeeded in .+, run [0-9a-f-]{36}\n$/)
    assert.deepInclude(echo, { status: "succeeded", result: ["text", { deep: [null] }] })
    assert.deepInclude(failed, { code: 1, stdout: "" })
    assert.match(
      failed.stderr,
      /^error RangeError: no such rate\n {2}at charge \(src\/billing\.ts:17:9\)\nhint {2}`weft logs/
    )
  })

  it("reads arguments from files and from stdin", async () => {
    writeFileSync(join(harness.folder, "args.json"), "[20, 22]")
    writeFileSync(join(harness.folder, "broken.json"), "[20,")
    const [file, stdin, broken, twice, missing] = await Promise.all([
      harness.run(["run", "main/add", "--file", "args.json"]),
      harness.json(["run", "main/echo", "--file", "-"], { stdin: '{"one":"argument"}' }),
      harness.run(["run", "main/add", "--file", "broken.json"]),
      harness.run(["run", "main/add", "1", "--file", "args.json"]),
      harness.run(["run", "main/add", "--file", "none.json"])
    ])
    assert.strictEqual(file.stdout, "42\n")
    assert.deepStrictEqual(stdin.result, [{ one: "argument" }])
    assert.deepInclude(broken, { code: 2, stderr: "error broken.json is not JSON: [20,\n" })
    assert.deepInclude(twice, { code: 2 })
    assert.deepInclude(missing, { code: 1 })
    assert.include(missing.stderr, "none.json cannot be read")
  })

  it("runs a function of a build of the named project, as type `run`", async () => {
    const { build_id } = await harness.client.builds.deployed("shop")
    const [sum, both, nowhere] = await Promise.all([
      harness.json(["run", "shop:main/add", "1", "2", "--build", build_id]),
      harness.run(["run", "shop:main/add", "--build", build_id, "--idempotency-key", "one"]),
      harness.run(["run", "shop:main/add", "--build", nobody])
    ])
    assert.deepInclude(sum, { result: 3, run_type: "run", build_id })
    assert.deepInclude(both, { code: 2 })
    assert.deepInclude(nowhere, { code: 1 })
  })

  it("reports unquoted text, an unknown function and a run that has not ended", async () => {
    const [word, unknown, slow, left] = await Promise.all([
      harness.run(["run", "main/add", "hello"]),
      harness.run(["run", "main/none", "--json"]),
      harness.run(["run", "main/hang", "--wait", "1"]),
      harness.run(["run", "main/hang", "--wait", "0"])
    ])
    assert.deepInclude(word, {
      code: 2,
      stderr: "error Argument 1 is not JSON: hello\nhint  for text, write '\"hello\"'\n"
    })
    assert.strictEqual(unknown.code, 1)
    assert.deepInclude(JSON.parse(unknown.stderr).error, { code: "bad_request" })
    assert.deepInclude(slow, { code: 1 })
    assert.match(slow.stderr, /has not ended within 1 s\nhint {2}follow it with `weft logs [0-9a-f-]{36} --follow`\n$/)
    assert.deepInclude(left, { code: 0 })
    assert.deepStrictEqual(await harness.json(["runs", "cancel", "--all", "--type", "call"]), { cancelled: 2 })
    assert.deepStrictEqual(await harness.json(["deliveries", "list", "--project", "shop"]), [])
    assert.deepStrictEqual(await harness.json(["deliveries", "cancel", "--all", "--dry-run"]), {
      cancelled: 0,
      matched: 0
    })
    assert.deepStrictEqual(await harness.json(["deliveries", "cancel", "--project", "shop"]), { cancelled: 0 })
    const unselective = await harness.run(["deliveries", "cancel"])
    assert.include(unselective.stderr, "give --project, --function or --event-type, or --all without them")
  })

  it("pauses a function, lists the pause and resumes", async () => {
    const paused = await harness.json(["pause", "shop:main/none", "--schedules", "skip", "--drain"])
    assert.deepInclude(paused, { project_name: "shop", ns: "main", var: "none", schedules: "skip" })
    assert.deepStrictEqual(await harness.json(["pauses"]), [paused])
    assert.deepInclude(await harness.run(["resume", "main/none", "--project", "shop"]), { code: 0 })
    assert.deepStrictEqual(await harness.json(["pauses"]), [])
    const [again, unnamed] = await Promise.all([
      harness.run(["resume", "shop:main/none"]),
      harness.run(["pause", "shop:main/none", "--all"])
    ])
    assert.include(again.stderr, "It is not paused")
    assert.include(unnamed.stderr, "give a function, --project or --all")
  })
})

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
