/** The state of an alert rule, as a word and a colour. */
import type { Alert } from "@weft/client"
import type { JSX } from "solid-js"
import { t } from "../text/Language.ts"
import { stateBadges, stateOf } from "./AlertText.ts"

export const AlertBadge = (props: { readonly alert: Alert }): JSX.Element => (
  <span class={`badge ${stateBadges[stateOf(props.alert)]}`}>{t().alerts.states[stateOf(props.alert)]}</span>
)
