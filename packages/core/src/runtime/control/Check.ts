/** The result of one check of an installation, with the remedy. */
import { Schema } from "effect"

/** `warning`: works now, but needs attention. `failure`: something does not work. */
export const CheckStatus = Schema.Literals(["ok", "warning", "failure"])
export type CheckStatus = typeof CheckStatus.Type

export interface Check {
  /** The checked part, in lowercase words with hyphens. */
  readonly name: string
  readonly status: CheckStatus
  /** Observation, for operators. Contains no secret and no data of a tenant. */
  readonly seen: string
  /** Advice, or null if nothing needs to be done. */
  readonly remedy: string | null
}

export const passed = (name: string, seen: string): Check => ({ name, status: "ok", seen, remedy: null })

export const warning = (name: string, seen: string, remedy: string): Check => ({
  name,
  status: "warning",
  seen,
  remedy
})

export const failed = (name: string, seen: string, remedy: string): Check => ({
  name,
  status: "failure",
  seen,
  remedy
})
