/** Operations with which a guest ends something that it has opened. */
import { Effect, Schema } from "effect"
import { GuestId } from "./Bytes.ts"
import type { GuestFace } from "./GuestFace.ts"
import { ofRun, operation } from "./Operation.ts"
import type { RunResource, RunResources } from "./RunResources.ts"

/** Returns an operation that closes and removes a resource of the run. It does nothing if the resource has ended. */
export const endOperation = <const Name extends string, const Face extends GuestFace, Services>(
  name: Name,
  guest: Face,
  needs: Effect.Effect<RunResources<RunResource>, never, Services>
) =>
  operation({
    name,
    input: Schema.Struct({ id: GuestId }),
    output: Schema.Void,
    permission: ofRun,
    span: "none",
    guest,
    needs,
    handler:
      (open) =>
      (run, { id }) =>
        open.find(run.run_id, id)?.end ?? Effect.void
  })
