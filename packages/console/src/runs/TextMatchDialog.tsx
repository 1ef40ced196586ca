/** Applies an action to the runs whose errors contain a text, a few at a time, while the page is open. */
import { useQuery } from "@tanstack/solid-query"
import type { Run } from "@weft/client"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { BuildChoice, type ReplayBuild } from "./BuildChoice.tsx"
import type { BulkProps } from "./BulkActions.tsx"
import { MatchCount } from "./MatchCount.tsx"
import { type RunFilters, toRunsQuery } from "./RunFilters.ts"
import { applyToRuns, noProgress, selectedMax, selectRuns } from "./selectRuns.ts"

/** Only failed runs have the text of an error, so there is nothing to cancel. */
const isReplayed = ({ event_id, status }: Run): boolean => event_id !== null && status !== "running"

export const TextMatchDialog = (props: BulkProps): JSX.Element => {
  const { filters, kind } = props
  const [progress, setProgress] = createSignal(noProgress)
  const [build, setBuild] = createSignal<ReplayBuild>("deployed")
  const controller = new AbortController()
  const isReplay = kind === "replay"
  const found = useQuery(() => ({
    queryKey: ["selection", kind],
    queryFn: () => (isReplay ? selectRuns(filters) : Promise.resolve({ runs: [], total: 0 })),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY
  }))
  const runs = () => (dataOf(found)?.runs ?? []).filter(isReplayed)
  const replay = async () => {
    const action = ({ run_id }: Run) => weft.runs.replay(run_id, { build: build() })
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
      title={isReplay ? t().runs.replayAllTitle : t().runs.cancelAllTitle}
      text={isReplay ? t().operations.textHint : t().runs.cancelAllText}
      action={isReplay ? t().runs.replayAllConfirm : t().runs.cancelAllConfirm}
      command={`${listCommand(filters)} | xargs -n 1 weft runs ${isReplay ? `replay --build ${build()}` : "cancel"}`}
      isDanger={!isReplay}
      isDisabled={runs().length === 0}
      onConfirm={replay}
    >
      <MatchCount kind={kind} count={dataOf(found) && runs().length} error={found.error} />
      <Show when={(dataOf(found)?.total ?? 0) > selectedMax}>
        <p class="notice warning">{t().runs.replayLimit(formatCount(selectedMax))}</p>
      </Show>
      <Show when={isReplay}>
        <BuildChoice value={build()} onChange={setBuild} same={t().runs.replaySame} />
      </Show>
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

const listCommand = (filters: RunFilters): string => {
  const { time_range, include: _include, ...query } = toRunsQuery(filters)
  const given = Object.entries({ ...query, since: time_range && filters.period })
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${shellWord(String(value))}`))
    .join("")
  return `weft runs list${given} --limit ${selectedMax} --json | jq -r '.[].run_id'`
}
