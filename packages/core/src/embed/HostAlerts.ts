/** The alert rules of one environment, for the host. */
import type { Effect } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import {
  type AlertChange,
  Alerts,
  type AlertTest,
  type AlertWithSecret,
  type NewAlert
} from "../runtime/control/Alerts.ts"
import type { Alert } from "../runtime/runs/Alert.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostAlerts {
  readonly list: (page?: PageRequest) => Promise<Page<Alert>>
  readonly get: (alertId: string) => Promise<Alert>
  readonly create: (alert: NewAlert) => Promise<AlertWithSecret>
  readonly update: (alertId: string, change: AlertChange) => Promise<AlertWithSecret>
  readonly remove: (alertId: string) => Promise<void>
  /** Performs the actions of a rule now. */
  readonly test: (alertId: string) => Promise<AlertTest>
}

type RunEffect = <A, E>(effect: Effect.Effect<A, E, Alerts | Caller>) => Promise<A>

export const hostAlerts = (runEffect: RunEffect): HostAlerts => ({
  list: (page = firstPage) => runEffect(Alerts.use((alerts) => alerts.list(page))),
  get: (alertId) => runEffect(Alerts.use((alerts) => alerts.get(alertId))),
  create: (alert) => runEffect(Alerts.use((alerts) => alerts.create(alert))),
  update: (alertId, change) => runEffect(Alerts.use((alerts) => alerts.update(alertId, change))),
  remove: (alertId) => runEffect(Alerts.use((alerts) => alerts.remove(alertId))),
  test: (alertId) => runEffect(Alerts.use((alerts) => alerts.test(alertId)))
})
