/**
 * Polls an export until it is ready. Each run polls at most ten times, and then continues as a new one, so that its history
 * stays short however long the export takes.
 */
import type { DurableSvc } from "@weft/sdk"
import * as z from "zod"

const Export = z.object({ ready: z.boolean(), url: z.string().optional() })

export interface PollState {
  readonly id: string
  readonly polls: number
}

/** `svc` of a function that continues as a new run. */
interface ContinuingSvc extends DurableSvc {
  continueAsNew(args: unknown): Promise<never>
}

const pollsPerRun = 10

export const poll = Object.assign(
  async ({ id, polls }: PollState, svc: ContinuingSvc) => {
    for (let count = 1; count <= pollsPerRun; count++) {
      const found = await svc.step("poll", async () => {
        const response = await fetch(`https://exports.example.test/${id}`)
        return Export.parse(await response.json())
      })
      if (found.ready) return { url: found.url ?? "", polls: polls + count }
      await svc.sleep("pause", "1m")
    }
    return svc.continueAsNew({ id, polls: polls + pollsPerRun })
  },
  { meta: { durable: true } }
)
