/** Starts durable functions, publishes the signals that they wait for, and completes their tokens. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Query } from "@weft/bench/instruments"
import { drawPlan, readPlan, signalType, tokenName } from "./FlowGuest.ts"
import { publish, type Sender } from "./Sender.ts"

/** Every third flow fails at its end. */
const failsEach = 3

/** Publishes the event of a flow, and later its first signal, which may precede the wait for it. */
export const sendFlow = async (sender: Sender): Promise<void> => {
  const { ledger, random } = sender
  const fails = (ledger.sent.get("flow") ?? 0) % failsEach === 0
  const plan = drawPlan(random, fails)
  let flow = 0
  const started = await publish(
    sender,
    "flow",
    (n) => {
      flow = n
      return { event_type: "chaos:flow", event_data: { n, ...plan } }
    },
    { isKeyed: true }
  )
  await sleep(random.whole(0, 8_000))
  if (started !== null) await signal(sender, flow, "signal")
}

const signal = (sender: Sender, flow: number, name: string): Promise<string | null> =>
  publish(sender, "signal", (n) => ({ event_type: signalType, event_data: { n, flow, name } }), { isKeyed: true })

export interface TokenClients {
  /** Waits for the requests in flight. */
  readonly stop: () => Promise<void>
}

/** Interval of the queries for new tokens, in milliseconds. */
const intervalMs = 500

/** Maximum time in which a token is completed, in milliseconds. */
const completeForMs = 150_000

/** Completes each token through random nodes, and publishes the signal for the wait after it. */
export const completeTokens = (sender: Sender, query: Query): TokenClients => {
  const found = new Set<string>()
  const inFlight = new Set<Promise<void>>()
  let isStopped = false
  const looping = (async () => {
    for (; !isStopped; await sleep(intervalMs)) {
      for (const { runId, flow } of await listTokens(query)) {
        if (found.has(runId)) continue
        found.add(runId)
        const completing = complete(sender, runId, flow)
        inFlight.add(completing)
        void completing.finally(() => inFlight.delete(completing))
      }
    }
  })()
  return {
    stop: async () => {
      isStopped = true
      await looping
      await Promise.all(inFlight)
    }
  }
}

interface FoundToken {
  readonly runId: string
  readonly flow: number
}

/** Returns the pending tokens; none while the database does not answer. */
const listTokens = async (query: Query): Promise<ReadonlyArray<FoundToken>> => {
  const rows = await query(
    `SELECT t.run_id, e.event_data FROM workflow_tokens t JOIN runs r USING (env_id, run_id)
      JOIN events e USING (env_id, event_id) WHERE t.state = 'pending' AND r.status = 'running'`
  ).catch(() => [])
  return rows.map(({ run_id, event_data }) => ({
    runId: String(run_id),
    flow: readPlan(JSON.parse(String(event_data))).n
  }))
}

const complete = async (sender: Sender, runId: string, flow: number): Promise<void> => {
  const { random } = sender
  await sleep(random.whole(0, 2_000))
  const began = performance.now()
  let tries = 0
  const attempt = (): Promise<boolean> => completeOnce(sender, runId, `${flow}:${++tries}`)
  while (performance.now() - began < completeForMs) {
    // Sometimes two clients at once.
    const ends = await Promise.all(random.chance(0.5) ? [attempt(), attempt()] : [attempt()])
    if (ends.includes(true)) break
    await sleep(random.whole(200, 1_000))
  }
  await sleep(random.whole(0, 4_000))
  await attempt()
  await sleep(random.whole(0, 4_000))
  await signal(sender, flow, "later")
}

/** Requests the completion of a token. Returns true if it is completed or expired. */
const completeOnce = async ({ client, ledger }: Sender, runId: string, value: string): Promise<boolean> => {
  const from = Date.now()
  const received = await client.send({
    path: `/v1/runs/${runId}/tokens/${tokenName}`,
    body: { data: value },
    accepts: [409, 410]
  })
  const status = received?.status ?? null
  ledger.completions.push({ run_id: runId, value, from, to: Date.now(), status })
  return status !== null
}
