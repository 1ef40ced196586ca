/** A steady load of all kinds of requests, independent of responses. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import { type Client, readText } from "./Client.ts"
import { sendFlow } from "./FlowLoad.ts"
import type { Kind, Ledger } from "./Ledger.ts"
import { publish, type Sender, sendUntilAcknowledged } from "./Sender.ts"

export interface Load {
  /** Stops sending, and waits for the responses in flight. */
  readonly stop: () => Promise<void>
}

/** Relative frequency of each kind. */
const shares: Readonly<Record<Exclude<Kind, "shown" | "signal">, number>> = {
  plain: 30,
  grouped: 14,
  hook: 14,
  call: 10,
  flaky: 8,
  relay: 6,
  delayed: 4,
  once: 4,
  slow: 3,
  doomed: 3,
  later: 3,
  flow: 3
}
const bag = Object.entries(shares).flatMap(([kind, share]) => Array.from({ length: share }, () => kind))
const bagWithoutFlows = bag.filter((kind) => kind !== "flow")

const inFlightMax = 400
const stepMs = 50

export interface LoadOptions {
  /** True if the deployed build has the functions of `FlowGuest.ts`. */
  readonly withFlows?: boolean
}

export const beginLoad = (
  client: Client,
  ledger: Ledger,
  random: Draws,
  perSecond: number,
  { withFlows = false }: LoadOptions = {}
): Load => {
  const kinds = withFlows ? bag : bagWithoutFlows
  const inFlight = new Set<Promise<unknown>>()
  let isStopped = false
  const sender: Sender = { client, ledger, random }

  const launch = (): void => {
    if (inFlight.size >= inFlightMax || client.pick() === null) {
      ledger.skipped++
      return
    }
    const sending = sendOne(sender, random.one(kinds))
    inFlight.add(sending)
    void sending.finally(() => inFlight.delete(sending))
  }
  const looping = (async () => {
    const began = performance.now()
    for (let launched = 0; !isStopped; ) {
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond)
      for (; launched < due; launched++) launch()
      await sleep(stepMs)
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

const sendOne = async (sender: Sender, kind: string): Promise<unknown> => {
  const { random } = sender
  const ms = random.whole(0, 30)
  switch (kind) {
    case "plain":
      return publish(sender, "plain", (n) => ({ event_type: "chaos:plain", event_data: { n, ms } }))
    case "slow": {
      const long = random.whole(2_000, 12_000)
      return publish(sender, "slow", (n) => ({ event_type: "chaos:plain", event_data: { n, ms: long } }))
    }
    case "delayed": {
      const delay = `${random.whole(1, 8)}s`
      return publish(sender, "delayed", (n) => ({ event_type: "chaos:plain", event_data: { n, ms }, delay }))
    }
    case "grouped": {
      const key = `key-${random.whole(1, 6)}`
      return publish(sender, "grouped", (n) => ({ event_type: "chaos:grouped", event_data: { n, ms: ms * 4, key } }))
    }
    case "flaky": {
      const failures = random.whole(1, 3)
      return publish(sender, "flaky", (n) => ({ event_type: "chaos:flaky", event_data: { n, ms, failures } }))
    }
    case "doomed":
      return publish(sender, "doomed", (n) => ({ event_type: "chaos:doomed", event_data: { n } }))
    case "once": {
      const value = randomUUID()
      const twin = () => publish(sender, "once", (n) => ({ event_type: "chaos:once", event_data: { n, ms, value } }))
      return Promise.all([twin(), twin()])
    }
    case "later": {
      const schedule = `PT${random.whole(2, 20)}S`
      return publish(sender, "later", (n) => ({
        event_type: "svc:schedule:new",
        event_data: { fn: "main/later", args: [n], schedule }
      }))
    }
    case "flow":
      return sendFlow(sender)
    case "call":
      return call(sender, ms)
    case "hook":
      return webhook(sender, "hook", ms)
    default:
      return webhook(sender, "relay", ms)
  }
}

const call = (sender: Sender, ms: number): Promise<unknown> => {
  const n = sender.ledger.next("call")
  return sendUntilAcknowledged(sender, "call", n, "/v1/calls", {
    fn: "main/called",
    args: [n, ms],
    wait: sender.random.whole(0, 2)
  })
}

const webhook = async ({ client, ledger }: Sender, kind: "hook" | "relay", ms: number): Promise<void> => {
  const n = ledger.next(kind)
  const answered = await client.post({ path: `/webhook/default/production/chaos/${kind}`, body: { n, ms } })
  if (answered === null) ledger.unknown++
  else ledger.acknowledge(kind, n, readText(answered, "event_id"))
}
