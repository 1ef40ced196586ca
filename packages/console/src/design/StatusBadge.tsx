/** The status of a run, as a word and a colour. */
import type { Run } from "@weft/client"
import type { JSX } from "solid-js"
import { t } from "../text/Language.ts"

export type ShownStatus = Run["status"] | "waiting"

/** A suspended run is `waiting`, which the API reports as a running run with a wait. */
export const shownStatus = ({ status, waiting }: Pick<Run, "status" | "waiting">): ShownStatus =>
  status === "running" && waiting !== undefined && waiting !== null ? "waiting" : status

export const StatusBadge = (props: { readonly status: ShownStatus }): JSX.Element => (
  <span class={`badge ${props.status}`}>{t().status[props.status]}</span>
)
