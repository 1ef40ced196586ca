/** Opens many subscriptions from a separate process. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface SubscribersPlan {
  /** URL of the subscription. */
  readonly url: string
  readonly token: string
  readonly subscribers: number
  /** Number of subscribers that parse their messages instead of only counting them. */
  readonly readers: number
}

/** Received messages since the last call. */
export interface SubscribersResult {
  /** Total number of messages. */
  readonly received: number
  /** Messages that a reader received out of order. */
  readonly disorder: number
  /** Number of subscribers whose connection was closed. */
  readonly cutOff: number
  /** Delay from the creation of an event's id to the receipt of its message. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface Subscribers {
  readonly read: () => Promise<SubscribersResult>
  /** Ends all subscriptions. */
  readonly close: () => Promise<void>
}

const client = new URL("./subscribersClient.ts", import.meta.url).pathname

/** Resolves when all are subscribed. */
export const subscribe = async (plan: SubscribersPlan): Promise<Subscribers> => {
  const child = spawn(process.execPath, [client, JSON.stringify(plan)], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { value } = await lines.next()
  if (value !== "ready") throw new Error("The subscriber process did not become ready")
  return {
    read: async () => {
      child.stdin.write("read\n")
      return JSON.parse((await lines.next()).value ?? "")
    },
    close: async () => {
      child.stdin.end()
      await lines.next()
    }
  }
}
