/** Active pauses with the runs that still execute; pauses and resumes functions, projects and the environment. */
import { useQuery } from "@tanstack/solid-query"
import type { Pause, PauseState } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { queryClient } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { Instant } from "../design/Instant.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { PauseDialog } from "./PauseDialog.tsx"
import { WaitingFrame } from "./WaitingFrame.tsx"

/** Pauses that the page shows. */
const pausesMax = 100

/** Interval in milliseconds in which the page counts executing runs, until they have drained. */
const drainIntervalMs = 5_000

const listPauses = async (): Promise<ReadonlyArray<PauseState>> => {
  const { items } = await weft.pauses.list({ limit: pausesMax })
  const states = await Promise.allSettled(items.map(({ pause_id }) => weft.pauses.get(pause_id)))
  // A pause may have ended by now.
  return states.flatMap((state) => (state.status === "fulfilled" ? [state.value] : []))
}

const refresh = () => queryClient.invalidateQueries({ queryKey: ["pauses"] })

export default function PausesPage(): JSX.Element {
  const [isPausing, setPausing] = createSignal(false)
  const [resuming, setResuming] = createSignal<Pause | null>(null)
  const pauses = useQuery(() => ({
    queryKey: ["pauses"],
    queryFn: listPauses,
    refetchInterval: ({ state }) =>
      state.data?.some(({ runs }) => runs.executing > 0) === true ? drainIntervalMs : false
  }))
  const resume = async () => {
    const pause = resuming()
    if (pause === null) return
    await weft.pauses.remove(pause.pause_id)
    showToast(t().pauses.resumed)
    await refresh()
  }
  return (
    <WaitingFrame
      intro={t().pauses.intro}
      actions={
        <button type="button" class="button primary" onClick={() => setPausing(true)}>
          <Icon name="pause" />
          {t().pauses.pause}
        </button>
      }
    >
      <Show when={pauses.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void pauses.refetch()} />}
      </Show>
      <Show when={pauses.data}>{(data) => <PauseTable pauses={data()} onResume={setResuming} />}</Show>
      <Show when={isPausing()}>
        <PauseDialog
          onClose={() => {
            setPausing(false)
            void refresh()
          }}
        />
      </Show>
      <Confirm
        isOpen={resuming() !== null}
        onClose={() => setResuming(null)}
        title={t().pauses.resumeTitle}
        text={t().pauses.resumeText}
        action={t().pauses.resume}
        command={`weft resume ${targetArguments(resuming())}`}
        onConfirm={resume}
      />
    </WaitingFrame>
  )
}

const PauseTable = (props: {
  readonly pauses: ReadonlyArray<PauseState>
  readonly onResume: (pause: Pause) => void
}): JSX.Element => (
  <section class="card" aria-label={t().pauses.table}>
    <Show when={props.pauses.length > 0} fallback={<Empty title={t().pauses.emptyTitle} text={t().pauses.empty} />}>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t().pauses.target}</th>
              <th scope="col">{t().pauses.executing}</th>
              <th scope="col" class="wide-only">
                {t().pauses.schedules}
              </th>
              <th scope="col" class="wide-only">
                {t().pauses.by}
              </th>
              <th scope="col">{t().waiting.since}</th>
              <th scope="col">
                <span class="visually-hidden">{t().files.actions}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={props.pauses}>
              {(pause) => (
                <tr>
                  <td class="mono">{targetName(pause)}</td>
                  <td>{formatCount(pause.runs.executing)}</td>
                  <td class="muted wide-only">{t().pauses[pause.schedules]}</td>
                  <td class="mono muted wide-only">{pause.paused_by}</td>
                  <td class="muted">
                    <Instant at={pause.paused_at} />
                  </td>
                  <td class="end">
                    <button type="button" class="button" onClick={() => props.onResume(pause)}>
                      {t().pauses.resume}
                    </button>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </Show>
  </section>
)

const targetName = ({ project_name, ns, var: name }: Pause): string => {
  if (project_name === null) return t().pauses.environment
  return ns === null ? t().pauses.project(project_name) : `${project_name}:${ns}/${name}`
}

/** Returns the arguments of `weft resume` for a pause. */
const targetArguments = (pause: Pause | null): string => {
  if (pause === null || pause.project_name === null) return "--all"
  return pause.ns === null
    ? `--project ${shellWord(pause.project_name)}`
    : shellWord(`${pause.project_name}:${pause.ns}/${pause.var}`)
}
