/** Waiting for servers. */
import { setTimeout as sleep } from "node:timers/promises"

const everyMs = 20
const patienceMs = 60_000

/** Until `isTrue` says so; an error after a minute, or when it throws. */
export const waitUntil = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  for (let waited = 0; !(await isTrue()); waited += everyMs) {
    if (waited > patienceMs) throw new Error(`Waited in vain for ${what}`)
    await sleep(everyMs)
  }
}
