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

/** What was told since the last time. */
export interface SubscribersResult {
  /** Messages, of all together. */
  readonly received: number
  /** Messages that a reader got before or after their turn. */
  readonly disorder: number
  /** Subscribers whose connection was closed, ever. */
  readonly cutOff: number
  /** From the making of an event's id to the reading of its message. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface Subscribers {
  readonly tell: () => Promise<SubscribersResult>
  /** Ends all subscriptions. */
  readonly close: () => Promise<void>
}

const client = new URL("./subscribersClient.ts", import.meta.url).pathname

/** Resolves when all are subscribed. */
export const subscribe = async (plan: SubscribersPlan): Promise<Subscribers> => {
  const child = spawn(process.execPath, [client, JSON.stringify(plan)], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { value } = await lines.next()
  if (value !== "ready") throw new Error("The subscribers did not begin")
  return {
    tell: async () => {
      child.stdin.write("tell\n")
      return JSON.parse((await lines.next()).value ?? "")
    },
    close: async () => {
      child.stdin.end()
      await lines.next()
    }
  }
}
