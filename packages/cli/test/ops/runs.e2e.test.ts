import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { BreakingProxy } from "./BreakingProxy.ts"
import { World } from "./World.ts"

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.close())

const nobody = "01890000-0000-7000-8000-000000000000"

describe("weft run", () => {
  it("prints what a function returns, and nothing else on stdout", async () => {
    const [sum, echo, failed] = await Promise.all([
      world.run(["run", "main/add", "1", "2", "--", "-5"]),
      world.json(["run", "shop:main/echo", '"text"', '{"deep":[null]}']),
      world.run(["run", "main/fail"])
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

  it("takes arguments from files and from stdin", async () => {
    writeFileSync(join(world.folder, "args.json"), "[20, 22]")
    writeFileSync(join(world.folder, "broken.json"), "[20,")
    const [file, stdin, broken, twice, missing] = await Promise.all([
      world.run(["run", "main/add", "--file", "args.json"]),
      world.json(["run", "main/echo", "--file", "-"], { stdin: '{"one":"argument"}' }),
      world.run(["run", "main/add", "--file", "broken.json"]),
      world.run(["run", "main/add", "1", "--file", "args.json"]),
      world.run(["run", "main/add", "--file", "none.json"])
    ])
    assert.strictEqual(file.stdout, "42\n")
    assert.deepStrictEqual(stdin.result, [{ one: "argument" }])
    assert.deepInclude(broken, { code: 2, stderr: "error broken.json is not JSON: [20,\n" })
    assert.deepInclude(twice, { code: 2 })
    assert.deepInclude(missing, { code: 1 })
    assert.include(missing.stderr, "none.json cannot be read")
  })

  it("says how a text is written, which function there is none of, and that a run goes on", async () => {
    const [word, unknown, slow, left] = await Promise.all([
      world.run(["run", "main/add", "hello"]),
      world.run(["run", "main/none", "--json"]),
      world.run(["run", "main/hang", "--wait", "1"]),
      world.run(["run", "main/hang", "--wait", "0"])
    ])
    assert.deepInclude(word, {
      code: 2,
      stderr: "error Argument 1 is not JSON: hello\nhint  for text, write '\"hello\"'\n"
    })
    assert.strictEqual(unknown.code, 1)
    assert.deepInclude(JSON.parse(unknown.stderr).error, { code: "bad_request" })
    assert.deepInclude(slow, { code: 1 })
    assert.match(slow.stderr, /has not ended within 1 s\nhint {2}see it with `weft logs [0-9a-f-]{36} --follow`\n$/)
    assert.deepInclude(left, { code: 0 })
    assert.deepStrictEqual(await world.json(["runs", "cancel", "--all", "--type", "call"]), { cancelled: 2 })
  })
})

describe("weft events", () => {
  it("publishes, lists and shows what an event has set off", async () => {
    const [published, later] = await Promise.all([
      world.json(["events", "publish", "order:created", '{"total":21}']),
      world.json(["events", "publish", "import", "-", "--delay", "1h", "--idempotency-key", "once"], {
        stdin: '{"steps":1}'
      })
    ])
    assert.deepStrictEqual(published.event_data, { total: 21 })
    assert.strictEqual(Date.parse(later.event_time) - Date.parse(later.created_at), 3_600_000)
    const [again, listed, shown] = await Promise.all([
      world.json(["events", "publish", "import", '{"steps":1}', "--delay", "1h", "--idempotency-key", "once"]),
      world.json(["events", "list", "--limit", "3"]),
      world.run(["events", "get", published.event_id])
    ])
    assert.strictEqual(again.event_id, later.event_id)
    assert.lengthOf(listed, 3)
    assert.include(shown.stdout, '  "total": 21')
    assert.match(shown.stdout, /\nRUN +STATUS +TYPE +STARTED +TOOK +PROJECT\n[0-9a-f-]{36} {2}succeeded {2}event/)
  })

  it("refuses data that is not JSON, and ids that there are none of", async () => {
    const [data, missing] = await Promise.all([
      world.run(["events", "publish", "order:created", "total=21"]),
      world.run(["events", "get", nobody])
    ])
    assert.deepInclude(data, { code: 2 })
    assert.include(data.stderr, "The event's data is not JSON: total=21")
    assert.deepInclude(missing, { code: 1, stdout: "" })
  })

  it("watches what is published, and what happens in a stream", async () => {
    const watching = world.begin(["events", "watch", "--type", "import", "--json"])
    // A subscription begins when it begins: events are published until one is heard of.
    let isHeard = false
    const heard = watching.says('"import"').then(() => {
      isHeard = true
    })
    while (!isHeard) {
      await world.client.events.publish({ event_type: "order:created", event_data: { total: 1 } })
      await world.client.events.publish({ event_type: "import", event_data: { steps: 0 } })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await heard
    const told = await watching.stop()
    assert.strictEqual(told.code, 130)
    const lines = told.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepInclude(lines[0], { event: "event:created" })
    assert.isTrue(lines.every(({ data }) => data.event_type === "import"))

    const { stream_id } = await world.client.events.publish({ event_type: "order:created", event_data: { total: 1 } })
    const stream = world.begin(["events", "watch", "--stream", stream_id])
    const seen = stream.says("progress")
    const publishing = setInterval(() => {
      void world.client.events.publish({ event_type: "import", event_data: { steps: 1 }, stream_id })
    }, 200)
    await seen.finally(() => clearInterval(publishing))
    assert.match((await stream.stop()).stdout, /progress \{"step":1\}, run [0-9a-f-]{36}\n/)
  })
})

describe("weft runs and weft logs", () => {
  it("list, show, repeat and count runs", async () => {
    const { event_id } = await world.client.events.publish({ event_type: "order:created", event_data: { total: 4 } })
    const { run_id } = await ended(event_id)
    const failure = await world.client.calls.call({ fn: "main/fail", wait: 20 })
    const failed = "run_id" in failure ? failure.run_id : assert.fail("no run has begun")
    const [list, get, getFailed, replayed, stats, missing] = await Promise.all([
      world.json(["runs", "list", "--status", "failed", "--since", "1h", "--limit", "1"]),
      world.run(["runs", "get", run_id]),
      world.run(["runs", "get", failed]),
      world.json(["runs", "replay", run_id, "--build", "deployed"]),
      world.json(["runs", "stats"]),
      world.run(["runs", "get", nobody])
    ])
    assert.deepStrictEqual(
      list.map((run: { run_id: string }) => run.run_id),
      [failed]
    )
    assert.match(get.stdout, /^function +main\/onOrder$/m)
    assert.match(get.stdout, /^ {2}"doubled": 8$/m)
    assert.include(getFailed.stdout, "RangeError: no such rate\n  at charge (src/billing.ts:17:9)")
    assert.deepInclude(replayed, { origin_run_id: run_id, run_type: "run" })
    assert.isAbove(stats.succeeded, 0)
    assert.deepInclude(missing, { code: 1, stdout: "" })
  })

  it("cancel what is named, and only with a choice", async () => {
    const hanging = await world.client.calls.call({ fn: "main/hang" })
    const run = "run_id" in hanging ? hanging.run_id : assert.fail("no run has begun")
    const [none, both] = await Promise.all([
      world.run(["runs", "cancel"]),
      world.run(["runs", "cancel", run, "--type", "call"])
    ])
    assert.deepInclude(none, {
      code: 2,
      stderr: "error Which runs are to be cancelled?\nhint  name their ids, or give --all\n"
    })
    assert.deepInclude(both, { code: 2 })
    const cancelled = await world.run(["runs", "cancel", run])
    assert.deepInclude(cancelled, { code: 0, stdout: `Cancelled ${run}\n` })
    const again = await world.run(["runs", "cancel", run])
    assert.deepInclude(again, { code: 1, stdout: "" })
  })

  it("show the log of one run, with what it says made harmless", async () => {
    const { event_id } = await world.client.events.publish({ event_type: "order:created", event_data: { total: 5 } })
    const { run_id } = await ended(event_id)
    const [text, json, warnings, filtered] = await Promise.all([
      world.run(["logs", run_id]),
      world.run(["logs", run_id, "--json"]),
      world.run(["logs", run_id, "--level", "warn"]),
      world.run(["logs", run_id, "--fn", "main/onOrder"])
    ])
    assert.match(text.stdout, /main\/onOrder info {2}doubling \{"total":5\}\n/)
    assert.match(text.stdout, /main\/onOrder succeeded in .+ {2}[0-9a-f-]{36}\n$/)
    assert.notInclude(text.stdout, "\u001b")
    const lines = json.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepInclude(lines[0], { run_id, function: "main/onOrder", level: "info", message: "doubling", seq: 0 })
    assert.deepInclude(lines[2], { run_id, function: "main/onOrder", status: "succeeded" })
    assert.notInclude(warnings.stdout, "doubling")
    assert.deepInclude(filtered, { code: 2 })
  })

  it("follow one run to its end, and all runs of a function", async () => {
    const hanging = await world.client.calls.call({ fn: "main/hang" })
    const run = "run_id" in hanging ? hanging.run_id : assert.fail("no run has begun")
    const one = world.begin(["logs", run, "--follow"])
    const all = world.begin(["logs", "--follow", "--fn", "main/onOrder"])
    let isHeard = false
    const heard = all.says("succeeded").then(() => {
      isHeard = true
    })
    while (!isHeard) {
      await world.client.calls.call({ fn: "main/add", args: [1] })
      await world.client.events.publish({ event_type: "order:created", event_data: { total: 6 } })
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await heard
    const { code, stdout } = await all.stop()
    assert.strictEqual(code, 130)
    assert.match(stdout, /main\/onOrder info {2}doubling \{"total":6\}\n/)
    assert.notInclude(stdout, "main/add")
    await world.client.runs.cancel(run)
    const followed = await one.ended
    assert.strictEqual(followed.code, 0)
    assert.match(followed.stdout, /main\/hang cancelled in /)
  })
})

describe("weft logs --follow", () => {
  it("comes back when its connection breaks off, and tells what happened meanwhile", async () => {
    const proxy = await BreakingProxy.start(world.listening.url)
    const logs = world.begin(["logs", "--follow", "--fn", "main/add"], { env: { WEFT_URL: proxy.url } })
    try {
      let isHeard = false
      const heard = logs.says("main/add succeeded").then(() => {
        isHeard = true
      })
      while (!isHeard) {
        await world.client.calls.call({ fn: "main/add", args: [1] })
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      await heard
      proxy.goDown()
      const missed = await world.client.calls.call({ fn: "main/add", args: [2], wait: 20 })
      await logs.says("connecting again…")
      proxy.isDown = false
      await logs.says("run_id" in missed ? missed.run_id : assert.fail("no run has begun"))
    } finally {
      await logs.stop()
      await proxy.close()
    }
  })
})

/** The run of an event, when it has ended. */
const ended = async (eventId: string) => {
  for (;;) {
    const { items } = await world.client.events.runs(eventId)
    const run = items.find(({ status }) => status !== "running")
    if (run !== undefined) return run
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
