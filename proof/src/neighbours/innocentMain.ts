/**
 * The process of the innocent tenant's clients. It calls the webhook every 50 ms, also if earlier calls are pending.
 * Every second call uses a new connection. It publishes an event every 250 ms.
 */
import { Agent, request as sendRequest } from "node:http"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import { innocentEvent, innocentPath } from "./innocentCode.ts"
import { InnocentCommand, type InnocentReport, type Published, type Sample } from "./Messages.ts"

const webhookEveryMs = 50
const eventEveryMs = 250

/** Time after which a call counts as lost, in milliseconds. */
const timeoutMs = 15_000

const resolution = 10

interface Call {
  readonly url: string
  readonly body: unknown
  readonly key?: string
  readonly agent: Agent | false
}

const post = ({ url, body, key, agent }: Call): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const request = sendRequest(url, {
      method: "POST",
      agent,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        "content-type": "application/json",
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
      }
    })
    request.once("error", reject)
    request.once("response", (response) => {
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, body: received }), reject)
    })
    request.end(JSON.stringify(body))
  })

const samples: Array<Sample> = []
const events: Array<Published> = []
const pending = new Set<Promise<void>>()
const timers: Array<NodeJS.Timeout> = []
const lag = monitorEventLoopDelay({ resolution })

const reason = (error: unknown): string =>
  error instanceof Error && error.name === "AbortError" ? `not within ${timeoutMs} ms` : String(error)

const callWebhook = async (url: string, n: number, agent: Agent | false): Promise<void> => {
  const at = Date.now()
  const began = performance.now()
  const expected = JSON.stringify({ n, twice: n * 2 })
  const fault = await post({ url: url + innocentPath, body: { n }, agent }).then(
    ({ status, body }) => (status === 200 && body === expected ? null : `${status} ${body.slice(0, 200)}`),
    reason
  )
  samples.push({ at, ms: performance.now() - began, fault })
}

const publish = async (url: string, key: string, n: number, agent: Agent): Promise<void> => {
  const at = Date.now()
  try {
    const body = { event_type: innocentEvent, event_data: { n } }
    const answer = await post({ url: `${url}/v1/events`, key, agent, body })
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.body.slice(0, 200)}`)
    const { event_id } = Schema.decodeUnknownSync(Acknowledged)(answer.body).data
    events.push({ n, at, event_id, fault: null })
  } catch (error) {
    events.push({ n, at, event_id: null, fault: reason(error) })
  }
}

const Acknowledged = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ event_id: Schema.String }) }))

const track = (call: Promise<void>): void => {
  pending.add(call)
  void call.finally(() => pending.delete(call))
}

/** Starts an action at every multiple of `everyMs`. The timers do not drift. */
const every = (everyMs: number, action: (n: number) => void): void => {
  const began = performance.now()
  let n = 0
  timers.push(
    setInterval(() => {
      while (n * everyMs <= performance.now() - began) action(n++)
    }, everyMs / 2)
  )
}

const start = (url: string, key: string): void => {
  const agent = new Agent({ keepAlive: true })
  every(webhookEveryMs, (n) => track(callWebhook(url, n, n % 2 === 0 ? agent : false)))
  every(eventEveryMs, (n) => track(publish(url, key, n, agent)))
  lag.enable()
}

const stop = async (): Promise<void> => {
  for (const timer of timers) clearInterval(timer)
  const clientLagMs = Math.max(0, lag.max / 1e6 - resolution)
  await Promise.all(pending)
  const report: InnocentReport = { samples, events, clientLagMs }
  process.send?.(report)
}

process.on("message", (message) => {
  const command = Schema.decodeUnknownSync(InnocentCommand)(message)
  if (command.do === "start") start(command.url, command.key)
  else void stop()
})
process.on("disconnect", () => process.exit(0))
