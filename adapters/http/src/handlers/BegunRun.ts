/** The response to a request that starts a run: the run, or its event while no run has begun. */
import { toRunRecord } from "@weft/api"
import type { Event, Run } from "@weft/core/adapter"

export const toBegunRun = ({ event, run }: { readonly event: Event; readonly run: Run | null }) =>
  run === null ? event : toRunRecord(run)
