/** Subscribes many times from a process of its own. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface SubscribersPlan {
  /** Of a subscription. */
  readonly url: string
  readonly token: string
  readonly subscribers: number
  /** How many of them read what they are told, instead of counting it. */
  readonly readers: number
}

export interface SubscribersResult {
  /** Messages, of all together. */
  readonly received: number
  /** Messages of the subscriber that got the fewest. */
  readonly fewest: number
  /** Messages that a reader got before or after their turn. */
  readonly disorder: number
  /** Subscribers whose connection was closed. */
  readonly cutOff: number
  /** From the making of an event's id to the reading of its message. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface Subscribers {
  readonly finish: () => Promise<SubscribersResult>
}

const client = new URL("./subscribersClient.ts", import.meta.url).pathname

/** Resolves when all are subscribed. */
export const subscribe = async (plan: SubscribersPlan): Promise<Subscribers> => {
  const child = spawn(process.execPath, [client, JSON.stringify(plan)], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { value } = await lines.next()
  if (value !== "ready") throw new Error("The subscribers did not begin")
  return {
    finish: async () => {
      child.stdin.end()
      return JSON.parse((await lines.next()).value ?? "")
    }
  }
}
