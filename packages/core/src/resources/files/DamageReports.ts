/** Seam for reports of stored bytes that differ from those that were written. */
import { Context, Effect } from "effect"
import { ContentDamaged } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"

/** A stored content with damaged bytes. */
export interface Damage {
  readonly kind: "file" | "build"
  readonly env_id: EnvId
  readonly id: string
  /** Path of the file, or name of the project. */
  readonly name: string
  readonly storage_path: string
}

export class DamageReports extends Context.Service<
  DamageReports,
  {
    /** Logs and counts the damage, and adds it to the audit log. Repeated reports of one blob add one entry an hour. */
    readonly report: (damage: Damage) => Effect.Effect<void>
  }
>()("@weft/core/resources/files/DamageReports") {}

/** Reports the damage, then fails with `ContentDamaged`. */
export const failDamaged = (reports: DamageReports["Service"], damage: Damage): Effect.Effect<never, ContentDamaged> =>
  Effect.andThen(reports.report(damage), Effect.fail(new ContentDamaged({ resource: damage.kind })))
