/** Actions on all runs that match the filters: cancel the running ones, replay the ended ones. */
import { useQuery } from "@tanstack/solid-query"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { shellWord } from "../design/CommandHint.tsx"
import { Confirm } from "../design/Confirm.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { showToast } from "../design/Toasts.tsx"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { BuildChoice, type ReplayBuild } from "./BuildChoice.tsx"
import { type RunFilters, toRunsQuery } from "./RunFilters.ts"
import { applyToRuns, noProgress, type Selection, selectedMax, selectRuns } from "./selectRuns.ts"

interface BulkProps {
  readonly filters: RunFilters
  readonly onDone: () => void
}

export const BulkActions = (props: BulkProps): JSX.Element => {
  const [asked, setAsked] = createSignal<"cancel" | "replay" | null>(null)
  const close = () => setAsked(null)
  return (
    <>
      <button type="button" class="button" onClick={() => setAsked("cancel")}>
        <Icon name="stop" />
        {t().runs.cancelAll}
      </button>
      <button type="button" class="button" onClick={() => setAsked("replay")}>
        <Icon name="replay" />
        {t().runs.replayAll}
      </button>
      <Show when={asked() === "cancel"}>
        <CancelDialog {...props} onClose={close} />
      </Show>
      <Show when={asked() === "replay"}>
        <ReplayDialog {...props} onClose={close} />
      </Show>
    </>
  )
}

interface DialogProps extends BulkProps {
  readonly onClose: () => void
}

/** The runs of an action, which are read once, when its dialog opens. */
const useSelection = (name: string, read: () => Promise<Selection>) =>
  useQuery(() => ({ queryKey: ["selection", name], queryFn: read, gcTime: 0, staleTime: Number.POSITIVE_INFINITY }))

const CancelDialog = (props: DialogProps): JSX.Element => {
  const { filters } = props
  // Only running runs can be cancelled. A filter for ended ones matches none.
  const isPossible = filters.status === "" || filters.status === "running"
  const found = useSelection("cancel", () =>
    isPossible ? selectRuns(filters, "running") : Promise.resolve({ runs: [], total: 0 })
  )
  const controller = new AbortController()
  const cancel = async () => {
    const cancelled = await cancelRuns(filters, dataOf(found)?.runs ?? [], controller.signal)
    showToast(t().runs.cancelledCount(cancelled))
    props.onDone()
  }
  return (
    <Confirm
      isOpen
      onClose={() => {
        controller.abort()
        props.onClose()
      }}
      title={t().runs.cancelAllTitle}
      text={t().runs.cancelAllText}
      action={t().runs.cancelAllConfirm}
      command={cancelCommand(filters)}
      isDanger
      isDisabled={(dataOf(found)?.total ?? 0) === 0}
      onConfirm={cancel}
    >
      <Count count={dataOf(found)?.total} text={t().runs.cancelMatches} error={found.error} />
    </Confirm>
  )
}

/** Cancels the running runs of the filter, with one request if it has only fields that the API has for it. */
const cancelRuns = async (filters: RunFilters, runs: Selection["runs"], signal: AbortSignal): Promise<number> => {
  const { type, time_range } = toRunsQuery(filters)
  if (isCancellable(filters)) return (await weft.runs.cancelAll({ type, time_range })).cancelled
  const ended = await applyToRuns(
    runs,
    ({ run_id }) => weft.runs.cancel(run_id),
    () => undefined,
    signal
  )
  return ended.done
}

const ReplayDialog = (props: DialogProps): JSX.Element => {
  const found = useSelection("replay", () => selectRuns(props.filters))
  const [progress, setProgress] = createSignal(noProgress)
  const [build, setBuild] = createSignal<ReplayBuild>("deployed")
  const runs = () => (dataOf(found)?.runs ?? []).filter((run) => run.event_id !== null && run.status !== "running")
  const controller = new AbortController()
  const replay = async () => {
    const action = ({ run_id }: { readonly run_id: string }) => weft.runs.replay(run_id, { build: build() })
    const { done, failed, message } = await applyToRuns(runs(), action, setProgress, controller.signal)
    props.onDone()
    if (failed > 0) throw new Error(t().runs.replayFailed(done, failed, message ?? ""))
    showToast(t().runs.replayedCount(done))
  }
  return (
    <Confirm
      isOpen
      onClose={() => {
        controller.abort()
        props.onClose()
      }}
      title={t().runs.replayAllTitle}
      text={t().runs.replayAllText}
      action={t().runs.replayAllConfirm}
      command={replayCommand(props.filters, build())}
      isDisabled={runs().length === 0}
      onConfirm={replay}
    >
      <Count
        count={dataOf(found) === undefined ? undefined : runs().length}
        text={t().runs.replayMatches}
        error={found.error}
      />
      <Show when={(dataOf(found)?.total ?? 0) > selectedMax}>
        <p class="notice warning">{t().runs.replayLimit(formatCount(selectedMax))}</p>
      </Show>
      <BuildChoice value={build()} onChange={setBuild} same={t().runs.replaySame} />
      <Show when={progress().done + progress().failed > 0}>
        <progress
          class="progress"
          aria-label={t().runs.replayAllTitle}
          max={runs().length}
          value={progress().done + progress().failed}
        />
      </Show>
    </Confirm>
  )
}

const Count = (props: {
  readonly count: number | undefined
  readonly text: (count: number) => string
  readonly error: unknown
}): JSX.Element => (
  <Show when={!props.error} fallback={<ErrorNotice error={props.error} />}>
    <p role="status">
      <strong>{props.count === undefined ? `${t().common.loading} …` : props.text(props.count)}</strong>
    </p>
  </Show>
)

/** True if `weft.runs.cancelAll` has all fields of the filter. */
const isCancellable = (filters: RunFilters): boolean => {
  const { waiting, fn, project, error } = toRunsQuery(filters)
  return [waiting, fn, project, error].every((field) => field === undefined)
}

const flags = (filters: RunFilters): string => {
  const { type, time_range } = toRunsQuery(filters)
  const since = time_range === undefined ? "" : ` --since ${filters.period}`
  return `${type === undefined ? "" : ` --type ${type}`}${since}`
}

/** Returns the command that cancels what the button cancels. */
const cancelCommand = (filters: RunFilters): string => {
  return isCancellable(filters)
    ? `weft runs cancel --all${flags(filters)}`
    : `${listCommand(filters)} | xargs -n 1 weft runs cancel`
}

const listCommand = (filters: RunFilters): string => {
  const { status, waiting, fn, project, error } = toRunsQuery(filters)
  const more = Object.entries({ status, waiting, fn, project, error })
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${shellWord(value)}`))
    .join("")
  return `weft runs list${more}${flags(filters)} --limit ${selectedMax} --json | jq -r '.[].run_id'`
}

const replayCommand = (filters: RunFilters, build: string): string =>
  `${listCommand(filters)} | xargs -n 1 weft runs replay --build ${build}`
