/** Operations on many runs, with their progress. While one is in progress, the page follows it. */
import { A } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Operation } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import { OperationItem } from "./OperationItem.tsx"
import "./operations.css"

/** Operations that the page shows. */
const shownMax = 50

/** Interval of updates while an operation is in progress, in milliseconds. Live messages contain no operations. */
const followMs = 1000

const isOpen = ({ ended_at }: Operation): boolean => ended_at === null

export default function OperationsPage(): JSX.Element {
  const client = useQueryClient()
  const [cancelling, setCancelling] = createSignal<Operation | null>(null)
  const operations = useQuery(() => ({
    queryKey: ["operations"],
    queryFn: async () => (await weft.operations.list({ limit: shownMax })).items,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? followMs : false)
  }))
  const cancel = async () => {
    await weft.operations.cancel(cancelling()?.operation_id ?? "")
    showToast(t().operations.cancelled)
    await client.invalidateQueries({ queryKey: ["operations"] })
  }
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().operations.title}</h1>
      </div>
      <p class="muted">{t().operations.intro}</p>
      <Show when={operations.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void operations.refetch()} />}
      </Show>
      <Show when={operations.data}>
        {(data) => (
          <Show when={data().length > 0} fallback={<NoOperation />}>
            <ul class="operations" aria-label={t().operations.list}>
              {/* Items keep their elements while they change, so that an open list of failures stays open. */}
              <For each={data().map(({ operation_id }) => operation_id)}>
                {(id) => (
                  <Show when={operations.data?.find(({ operation_id }) => operation_id === id)}>
                    {(operation) => (
                      <OperationItem operation={operation()} onCancel={() => setCancelling(operation())} />
                    )}
                  </Show>
                )}
              </For>
            </ul>
          </Show>
        )}
      </Show>
      <Confirm
        isOpen={cancelling() !== null}
        onClose={() => setCancelling(null)}
        title={t().operations.cancelTitle}
        text={t().operations.cancelText}
        action={t().operations.cancel}
        command={`weft operations cancel ${cancelling()?.operation_id ?? ""}`}
        isDanger
        onConfirm={cancel}
      />
    </div>
  )
}

const NoOperation = (): JSX.Element => (
  <div class="card">
    <Empty title={t().operations.emptyTitle} text={t().operations.empty}>
      <A class="button" href="/runs">
        {t().operations.toRuns}
      </A>
    </Empty>
  </div>
)
