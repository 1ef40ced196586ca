/** Rows of environments. */
import { Env } from "@weft/core"
import { EnvPreview } from "@weft/core/adapter"
import { Schema } from "effect"
import type { RowOf } from "../Database.ts"

/** `preview` is JSON text; null for environments that are no previews. */
export type EnvRow = Omit<RowOf<Env, "active">, "preview"> & { readonly preview: string | null }

const preview = Schema.fromJsonString(EnvPreview)
const readPreview = Schema.decodeSync(preview)
const writePreview = Schema.encodeSync(preview)

export const toEnv = ({ preview, ...row }: EnvRow): Env =>
  new Env(
    { ...row, active: row.active === 1, ...(preview === null ? {} : { preview: readPreview(preview) }) },
    { disableChecks: true }
  )

export const toEnvRow = ({ preview, ...env }: Env) => ({
  ...env,
  active: env.active ? 1 : 0,
  preview: preview === undefined ? null : writePreview(preview)
})
