/** Polling until a condition is true. */
import { setTimeout as sleep } from "node:timers/promises"

const intervalMs = 20
const timeoutMs = 60_000

/** Polls `isTrue` every 20 ms until it returns true. Fails after 60 s, or if `isTrue` throws. */
export const waitUntil = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  for (let waited = 0; !(await isTrue()); waited += intervalMs) {
    if (waited > timeoutMs) throw new Error(`Timed out after ${timeoutMs} ms waiting for ${what}`)
    await sleep(intervalMs)
  }
}
