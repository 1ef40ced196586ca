/**
 * Polls an export until it is ready. Each run polls at most ten times, and then continues as a new one, so that its history
 * stays short however long the export takes.
 */
import { type DurableSvc, durableCallable } from "@weft/sdk"
import * as z from "zod"

const Export = z.object({ ready: z.boolean(), url: z.string().optional() })

const pollsPerRun = 10

export const poll = durableCallable({ retry: { attempts: 3 } }, async (id: string, polls: number, svc: DurableSvc) => {
  for (let count = 1; count <= pollsPerRun; count++) {
    const found = await svc.step("poll", async ({ signal }) => {
      const response = await fetch(`https://exports.example.test/${id}`, { signal })
      return Export.parse(await response.json())
    })
    if (found.ready) return { url: found.url ?? "", polls: polls + count }
    await svc.sleep("pause", "1m")
  }
  return svc.continueAsNew([id, polls + pollsPerRun])
})
