import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { BreakingProxy } from "./BreakingProxy.ts"
import { CliHarness } from "./CliHarness.ts"

let harness: CliHarness
beforeAll(async () => {
  harness = await CliHarness.start()
})
afterAll(() => harness.close())

/** Repeats until the result is not null. */
const eventually = async <A>(read: () => Promise<A | null>): Promise<A> => {
  while (true) {
    const found = await read()
    if (found !== null) return found
  }
}

const nobody = "01890000-0000-7000-8000-000000000000"

describe("weft tokens complete", () => {
  it("gives the data to the function that waits, once", async () => {
    const event = await harness.client.events.publish({ event_type: "approval:wanted", event_data: null })
    const { run_id } = await eventually(async () => {
      const { items } = await harness.client.events.runs(event.event_id)
      return items[0] ?? null
    })
    const complete = () => harness.run(["tokens", "complete", run_id, "approval", '{"by":"ann"}'])
    let done = await complete()
    // The run may not have created its token yet.
    while (done.stderr.includes("no such token")) done = await complete()
    assert.deepInclude(done, { code: 0, stdout: "Completed approval\n" })
    const run = await eventually(async () => {
      const found = await harness.client.runs.get(run_id)
      return found.status === "running" ? null : found
    })
    assert.deepStrictEqual(run.result, { ok: true, data: { by: "ann" } })
    const again = await complete()
    assert.strictEqual(again.code, 1)
    assert.match(again.stderr, /The token (was completed at|has expired)/)
    const broken = await harness.run(["tokens", "complete", run_id, "approval", "{"])
    assert.deepInclude(broken, { code: 2 })
  })
})

describe("weft events", () => {
  it("publishes and lists events, and shows the runs of an event", async () => {
    const [published, later] = await Promise.all([
      harness.json(["events", "publish", "order:created", '{"total":21}']),
      harness.json(["events", "publish", "import", "-", "--delay", "1h", "--idempotency-key", "once"], {
        stdin: '{"steps":1}'
      })
    ])
    assert.deepStrictEqual(published.event_data, { total: 21 })
    assert.strictEqual(Date.parse(later.event_time) - Date.parse(later.created_at), 3_600_000)
    const [again, loadPages, shown] = await Promise.all([
      harness.json(["events", "publish", "import", '{"steps":1}', "--delay", "1h", "--idempotency-key", "once"]),
      harness.json(["events", "list", "--limit", "3"]),
      harness.run(["events", "get", published.event_id])
    ])
    assert.strictEqual(again.event_id, later.event_id)
    assert.lengthOf(loadPages, 3)
    assert.include(shown.stdout, '  "total": 21')
    assert.match(shown.stdout, /\nRUN +STATUS +TYPE +STARTED +TOOK +PROJECT\n[0-9a-f-]{36} {2}succeeded {2}event/)
  })

  it("rejects data that is not JSON, and unknown ids", async () => {
    const [data, missing] = await Promise.all([
      harness.run(["events", "publish", "order:created", "total=21"]),
      harness.run(["events", "get", nobody])
    ])
    assert.deepInclude(data, { code: 2 })
    assert.include(data.stderr, "The event's data is not JSON: total=21")
    assert.deepInclude(missing, { code: 1, stdout: "" })
  })

  it("watches published events and the messages of a stream", async () => {
    const watching = harness.begin(["events", "watch", "--type", "import", "--json"])
    // The subscription starts at an unknown time: publish until the first event arrives.
    let hasArrived = false
    const arrival = watching.waitFor('"import"').then(() => {
      hasArrived = true
    })
    while (!hasArrived) {
      await harness.client.events.publish({ event_type: "order:created", event_data: { total: 1 } })
      await harness.client.events.publish({ event_type: "import", event_data: { steps: 0 } })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await arrival
    const watched = await watching.stop()
    assert.strictEqual(watched.code, 130)
    const lines = watched.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepInclude(lines[0], { event: "event:created" })
    assert.isTrue(lines.every(({ data }) => data.event_type === "import"))

    const { stream_id } = await harness.client.events.publish({ event_type: "order:created", event_data: { total: 1 } })
    const stream = harness.begin(["events", "watch", "--stream", stream_id])
    const seen = stream.waitFor("progress")
    const publishing = setInterval(() => {
      void harness.client.events.publish({ event_type: "import", event_data: { steps: 1 }, stream_id })
    }, 200)
    await seen.finally(() => clearInterval(publishing))
    assert.match((await stream.stop()).stdout, /progress \{"step":1\}, run [0-9a-f-]{36}\n/)
  })
})

describe("weft runs and weft logs", () => {
  it("list, show, replay and count runs", async () => {
    const { event_id } = await harness.client.events.publish({ event_type: "order:created", event_data: { total: 4 } })
    const { run_id } = await ended(event_id)
    const failure = await harness.client.calls.call({ fn: "main/fail", wait: 20 })
    const failed = "run_id" in failure ? failure.run_id : assert.fail("no run has started")
    const [list, get, getFailed, replayed, stats, missing] = await Promise.all([
      harness.json(["runs", "list", "--status", "failed", "--since", "1h", "--limit", "1"]),
      harness.run(["runs", "get", run_id]),
      harness.run(["runs", "get", failed]),
      harness.json(["runs", "replay", run_id, "--build", "deployed"]),
      harness.json(["runs", "stats"]),
      harness.run(["runs", "get", nobody])
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

  it("replay and cancel all runs that flags select, in the background", async () => {
    const matching = ["--all-matching", "--status", "failed", "--function", "main/fail"]
    const { matched } = await harness.json(["runs", "replay", ...matching, "--dry-run"])
    const [replayed, cancelled, without, mixed] = await Promise.all([
      harness.json(["runs", "replay", ...matching, "--since", "1h", "--build", "deployed"]),
      harness.run(["runs", "cancel", "--all-matching", "--function", "main/none"]),
      harness.run(["runs", "replay", "--all-matching"]),
      harness.run(["runs", "cancel", "--all", "--project", "shop"])
    ])
    assert.deepInclude(replayed, { kind: "replay", state: "succeeded", done: matched })
    assert.strictEqual(cancelled.stdout, "succeeded: 0 of 0 (0 done)\n")
    assert.include(without.stderr, "--all-matching needs --status")
    assert.include(mixed.stderr, "need --all-matching")
    const publish = () => harness.client.events.publish({ event_type: "order:created", event_data: { total: 4 } })
    const events = await Promise.all(Array.from({ length: 20 }, publish))
    for (const { event_id } of events) await ended(event_id)
    const slow = ["--all-matching", "--status", "succeeded", "--rate", "1", "--detach"]
    const left = await harness.json(["runs", "replay", ...slow])
    const stopped = await harness.json(["operations", "cancel", left.operation_id])
    assert.deepInclude(stopped, { operation_id: left.operation_id, state: "cancelled" })
    const followed = await harness.json(["operations", "follow", left.operation_id])
    assert.deepStrictEqual([followed, (await harness.json(["operations", "list"])).length], [stopped, 3])
  })

  it("cancel the named runs, and nothing without a selection", async () => {
    const hanging = await harness.client.calls.call({ fn: "main/hang" })
    const run = "run_id" in hanging ? hanging.run_id : assert.fail("no run has started")
    const [none, both] = await Promise.all([
      harness.run(["runs", "cancel"]),
      harness.run(["runs", "cancel", run, "--type", "call"])
    ])
    assert.deepInclude(none, {
      code: 2,
      stderr: "error Select the runs to cancel\nhint  give either their ids or --all\n"
    })
    assert.deepInclude(both, { code: 2 })
    const [all, plain] = await Promise.all([
      harness.run(["runs", "cancel", "--all", "--cleanup", "30s"]),
      harness.run(["runs", "cancel", run, "--cleanup", "30s"])
    ])
    assert.deepInclude(all, { code: 2 })
    assert.include(all.stderr, "--cleanup cannot be combined with --all")
    assert.deepInclude(plain, { code: 1 })
    assert.include(plain.stderr, "The run is not durable and cannot clean up")
    const cancelled = await harness.run(["runs", "cancel", run])
    assert.deepInclude(cancelled, { code: 0, stdout: `Cancelled ${run}\n` })
    const again = await harness.run(["runs", "cancel", run])
    assert.deepInclude(again, { code: 1, stdout: "" })
  })

  it("show the log of one run with visible control characters", async () => {
    const { event_id } = await harness.client.events.publish({ event_type: "order:created", event_data: { total: 5 } })
    const { run_id } = await ended(event_id)
    const [text, json, warnings, filtered] = await Promise.all([
      harness.run(["logs", run_id]),
      harness.run(["logs", run_id, "--json"]),
      harness.run(["logs", run_id, "--level", "warn"]),
      harness.run(["logs", run_id, "--fn", "main/onOrder"])
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
    const hanging = await harness.client.calls.call({ fn: "main/hang" })
    const run = "run_id" in hanging ? hanging.run_id : assert.fail("no run has started")
    const one = harness.begin(["logs", run, "--follow"])
    const all = harness.begin(["logs", "--follow", "--fn", "main/onOrder"])
    let hasArrived = false
    const arrival = all.waitFor("succeeded").then(() => {
      hasArrived = true
    })
    while (!hasArrived) {
      await harness.client.calls.call({ fn: "main/add", args: [1] })
      await harness.client.events.publish({ event_type: "order:created", event_data: { total: 6 } })
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await arrival
    const { code, stdout } = await all.stop()
    assert.strictEqual(code, 130)
    assert.match(stdout, /main\/onOrder info {2}doubling \{"total":6\}\n/)
    assert.notInclude(stdout, "main/add")
    await harness.client.runs.cancel(run)
    const followed = await one.ended
    assert.strictEqual(followed.code, 0)
    assert.match(followed.stdout, /main\/hang cancelled in /)
  })
})

describe("weft runs show and wake", () => {
  /** Starts a durable run, and returns its id once it sleeps. */
  const nap = async () => {
    const { event_id } = await harness.client.events.publish({ event_type: "nap", event_data: null })
    for (;;) {
      const [run] = (await harness.client.events.runs(event_id)).items
      if (run?.waiting?.for === "timer") return run.run_id
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  it("shows the steps and waits of a durable run as a timeline, and ends its sleep", async () => {
    const id = await nap()
    const [shown, json, listed] = await Promise.all([
      harness.run(["runs", "show", id]),
      harness.json(["runs", "show", id]),
      harness.json(["runs", "list", "--waiting", "timer"])
    ])
    assert.strictEqual(shown.code, 0)
    assert.match(shown.stdout, /^waits for timer "nap" until /m)
    assert.match(shown.stdout, /^TIME +KIND +NAME +STATE +TRY +TOOK +NOTE$/m)
    assert.match(shown.stdout, /^\d\d:\d\d:\d\d +step +prepare +done +1 +\d+ ms/m)
    assert.match(shown.stdout, /^\d\d:\d\d:\d\d +sleep +nap +waits .+ until /m)
    assert.deepInclude(json.run, { run_id: id, durable: true, steps: 1 })
    assert.deepInclude(json.steps[0], { name: "prepare", result: "ready" })
    assert.deepInclude(json.waits[0], { kind: "sleep", name: "nap" })
    assert.include(JSON.stringify(listed), id)
    assert.deepInclude(await harness.run(["runs", "wake", id]), { code: 0, stdout: `Woke ${id}\n` })
    while ((await harness.client.runs.get(id)).status === "running");
    const again = await harness.run(["runs", "wake", id])
    assert.strictEqual(again.code, 1)
    assert.include(again.stderr, "The run has ended: only a sleep or a retry pause of a durable run can be ended")
    const plain = await harness.client.calls.call({ fn: "main/add", args: [1], wait: 20 })
    const run = "run_id" in plain ? plain.run_id : assert.fail("no run has started")
    assert.notInclude((await harness.run(["runs", "show", run])).stdout, "TIME")
  })
})

describe("weft logs --follow", () => {
  it("reconnects after an interruption and prints the missed runs", async () => {
    const proxy = await BreakingProxy.start(harness.listening.url)
    const logs = harness.begin(["logs", "--follow", "--fn", "main/add"], { env: { WEFT_URL: proxy.url } })
    try {
      let hasArrived = false
      const arrival = logs.waitFor("main/add succeeded").then(() => {
        hasArrived = true
      })
      while (!hasArrived) {
        await harness.client.calls.call({ fn: "main/add", args: [1] })
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      await arrival
      proxy.goDown()
      const missed = await harness.client.calls.call({ fn: "main/add", args: [2], wait: 20 })
      await logs.waitFor("connecting again…")
      proxy.isDown = false
      await logs.waitFor("run_id" in missed ? missed.run_id : assert.fail("no run has started"))
    } finally {
      await logs.stop()
      await proxy.close()
    }
  })
})

/** Waits until the run of an event has ended, and returns it. */
const ended = async (eventId: string) => {
  for (;;) {
    const { items } = await harness.client.events.runs(eventId)
    const run = items.find(({ status }) => status !== "running")
    if (run !== undefined) return run
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
