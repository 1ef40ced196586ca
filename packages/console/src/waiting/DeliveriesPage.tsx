/** Pending deliveries with the reasons of their waits, and a form that cancels them. */
import { A } from "@solidjs/router"
import type { Delivery } from "@weft/client"
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { NewerButton } from "../live/NewerButton.tsx"
import { t } from "../text/Language.ts"
import { CancelDeliveries } from "./CancelDeliveries.tsx"
import { PeriodCells } from "./PeriodCells.tsx"
import { WaitingFrame } from "./WaitingFrame.tsx"

export default function DeliveriesPage(): JSX.Element {
  const [refreshes, setRefreshes] = createSignal(0)
  const [isCancelling, setCancelling] = createSignal(false)
  const version = () => String(refreshes())
  const refresh = () => setRefreshes(refreshes() + 1)
  return (
    <WaitingFrame
      isTall
      intro={t().waiting.deliveriesIntro}
      actions={
        <>
          <NewerButton event="event:created" version={version()} onShow={refresh} />
          <button type="button" class="button" onClick={() => setCancelling(true)}>
            <Icon name="stop" />
            {t().waiting.cancel}
          </button>
        </>
      }
    >
      <PagedTable<Delivery>
        label={t().waiting.deliveriesTable}
        columns="delivery-columns"
        headers={[
          t().waiting.reason,
          t().waiting.eventType,
          t().overview.function,
          t().waiting.detail,
          t().waiting.since,
          t().waiting.until
        ]}
        version={version()}
        load={async (offset, limit, signal) => await weft.deliveries.list({ limit, offset }, { signal })}
        row={(delivery) => <DeliveryCells delivery={delivery} />}
        empty={<Empty title={t().waiting.noDeliveriesTitle} text={t().waiting.noDeliveries} />}
      />
      <CancelDeliveries
        isOpen={isCancelling()}
        onClose={() => {
          setCancelling(false)
          refresh()
        }}
      />
    </WaitingFrame>
  )
}

const DeliveryCells = (props: { readonly delivery: Delivery }): JSX.Element => {
  const waiting = () => props.delivery.waiting
  return (
    <>
      <span role="cell" class="cut">
        <span class="badge waiting">{t().waiting.reasons[waiting().reason] ?? waiting().reason}</span>
      </span>
      <span role="cell" class="cut">
        <A class="row-link mono" href={`/events/${props.delivery.event_id}`}>
          {props.delivery.event_type}
        </A>
      </span>
      <span role="cell" class="cut mono muted">{`${props.delivery.ns}/${props.delivery.var}`}</span>
      <span role="cell" class="cut mono muted">
        {waiting().detail}
      </span>
      <PeriodCells since={waiting().since} until={waiting().until} />
    </>
  )
}
