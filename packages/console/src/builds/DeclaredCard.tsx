/** Functions, triggers, tools and capabilities of the chosen build, compared with another one. */
import type { Build } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { ErrorNotice } from "../design/Feedback.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { ChangeSummary, Declared } from "./Declared.tsx"
import { compareEntries } from "./Entries.ts"
import { useDescribedBuild } from "./useBuilds.ts"

export const DeclaredCard = (props: {
  readonly project: string
  readonly builds: ReadonlyArray<Build>
  readonly buildId: string | null
  readonly comparedWith: string | null
  readonly onCompare: (buildId: string | null) => void
}): JSX.Element => {
  const chosen = useDescribedBuild(
    () => props.project,
    () => props.buildId
  )
  const other = useDescribedBuild(
    () => props.project,
    () => props.comparedWith
  )
  const [isShort, setShort] = createSignal(false)
  const isCompared = () => props.comparedWith !== null
  const entries = () => {
    if (chosen.data === undefined) return undefined
    if (props.comparedWith === null) return compareEntries(null, chosen.data)
    return other.data === undefined ? undefined : compareEntries(other.data, chosen.data)
  }
  return (
    <section class="card" aria-labelledby="declares">
      <div class="card-head">
        <h2 id="declares">
          {t().builds.declares} <span class="mono muted">{props.buildId?.slice(-12)}</span>
        </h2>
        <label class="end inline-field">
          <span>{t().builds.compare}</span>
          <select class="input" onChange={(event) => props.onCompare(event.currentTarget.value || null)}>
            <option value="" selected={props.comparedWith === null}>
              {t().builds.nothing}
            </option>
            <For each={props.builds.filter(({ build_id }) => build_id !== props.buildId)}>
              {(build) => (
                <option value={build.build_id} selected={build.build_id === props.comparedWith}>
                  {build.build_id.slice(-12)},{" "}
                  {build.deployed ? t().functions.deployed : formatInstant(build.created_at)}
                </option>
              )}
            </For>
          </select>
        </label>
      </div>
      <Show when={chosen.error ?? other.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={entries()}>
        {(found) => (
          <>
            <Show when={isCompared()}>
              <div class="note changes-note">
                <ChangeSummary entries={found()} />
                <label class="check end">
                  <input
                    type="checkbox"
                    checked={isShort()}
                    onChange={(event) => setShort(event.currentTarget.checked)}
                  />
                  {t().builds.onlyChanges}
                </label>
              </div>
            </Show>
            <Declared
              entries={isCompared() && isShort() ? found().filter(({ change }) => change !== "same") : found()}
              isCompared={isCompared()}
            />
          </>
        )}
      </Show>
    </section>
  )
}
