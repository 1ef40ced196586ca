import { type RecordedCall, type RecordedRun, replayRun } from "@weft/sdk/testing"
import { expect, it } from "vitest"

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const calls: ReadonlyArray<RecordedCall> = [
  { op: "context.get", args: { key: "KEY" }, answer: "weft-secret-KEY" },
  {
    op: "fetch.send",
    args: {
      id: 1,
      method: "POST",
      url: "https://rates.example/",
      headers: [["x-key", "weft-secret-KEY"]],
      redirect: "follow",
      body: { bytes: base64('{"total":21}') }
    },
    answer: { status: 200, status_text: "OK", headers: [["content-type", "application/json"]] }
  },
  { op: "fetch.read", args: { id: 1, max: 10, text: true }, answer: { bytes: '{"rate":', done: false } },
  { op: "fetch.read", args: { id: 1, max: 10, text: true }, answer: { bytes: "2}", done: true } },
  { op: "files.open", args: { path: "terms.txt", id: 2 }, answer: { bytes: base64("terms"), done: true } },
  { op: "host.crm.lookup", args: { id: "7" }, error: { name: "NotFound", message: "no customer 7" } },
  { op: "events.publish", args: { type: "priced", data: { total: 42, at: "then" } }, answer: { event_type: "priced" } }
]

const recording: RecordedRun = {
  run_id: "01890000-0000-7000-8000-000000000001",
  fn: "orders/onOrder",
  trigger: "event",
  svc: { run: { run_id: "01890000-0000-7000-8000-000000000001" }, event: { event_data: { id: "7", total: 21 } } },
  calls,
  status: "succeeded",
  result: { total: 42, terms: "terms", customer: "NotFound", run: "01890000-0000-7000-8000-000000000001" },
  redact: ["at"]
}

interface Services {
  readonly run: { readonly run_id: string }
  readonly context: { readonly get: (key: string) => Promise<string> }
  readonly files: { readonly get: (path: string) => Promise<{ readonly text: () => Promise<string> } | null> }
  readonly host: { readonly crm: { readonly lookup: (input: object) => Promise<unknown> } }
  readonly events: { readonly publish: (event: object) => Promise<unknown> }
}

/** Returns a project whose function multiplies the total and the rate by `factor`. */
const makeProject = (factor: number) => ({
  orders: {
    onOrder: async ({ event_data: { id, total } }: { event_data: { id: string; total: number } }, svc: Services) => {
      const key = await svc.context.get("KEY")
      const body = JSON.stringify({ total })
      const response = await fetch("https://rates.example/", { method: "POST", headers: { "x-key": key }, body })
      const { rate }: { rate: number } = JSON.parse(await response.text())
      const terms = await (await svc.files.get("terms.txt"))?.text()
      const customer = await svc.host.crm.lookup({ id }).catch((error: Error) => error.name)
      const priced = { total: total * rate * factor, at: new Date().toISOString() }
      await svc.events.publish({ type: "priced", data: priced })
      return { total: priced.total, terms, customer, run: svc.run.run_id }
    }
  }
})

it("replays a run with the recorded answers, and finds no difference in the same code", async () => {
  const { difference, status, result } = await replayRun(makeProject(1), recording)
  expect(difference).toBeNull()
  expect({ status, result }).toEqual({ status: "succeeded", result: recording.result })
})

it("describes the first difference of a call, of a missing call, and of the result", async () => {
  const changed = await replayRun(makeProject(2), recording)
  expect(changed.difference).toBe("events.publish.data.total: 42 → 84")
  const fewer = { orders: { onOrder: () => recording.result } }
  expect((await replayRun(fewer, recording)).difference).toBe(
    'context.get {"key":"KEY"} → the replay made no such call'
  )
  const result = { orders: { onOrder: () => ({ total: 43 }) } }
  const withoutCalls = { ...recording, calls: [], result: { total: 42 } }
  expect((await replayRun(result, withoutCalls)).difference).toBe("result.total: 42 → 43")
  await expect(replayRun({}, recording)).rejects.toThrow("The project exports no function orders/onOrder")
})

it("gives a webhook its request with the recorded body, and compares its response", async () => {
  const hook = (request: { readonly body: unknown }) => ({ status: 201, body: { echo: request.body } })
  const replayed = await replayRun(
    { hook },
    {
      ...recording,
      fn: "main/hook",
      trigger: "request",
      svc: { ...recording.svc, request: { method: "POST", body: null, "body-raw": "" } },
      body: { text: '{"a":1}', as: "json" },
      calls: [],
      result: { status: 201, body: { echo: { a: 1 } } }
    }
  )
  expect(replayed.difference).toBeNull()
})
