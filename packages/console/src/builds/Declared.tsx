/** Functions, triggers and tools of a build, with the changes from another build. */
import { For, type JSX, Show } from "solid-js"
import { t } from "../text/Language.ts"
import { type Change, type ComparedEntry, type Group, groups } from "./Entries.ts"

const badgeOf: Readonly<Record<Change, string>> = {
  added: "succeeded",
  removed: "failed",
  changed: "waiting",
  same: ""
}

export const ChangeBadge = (props: { readonly change: Change }): JSX.Element => (
  <span class={`badge ${badgeOf[props.change]}`}>{t().builds[props.change]}</span>
)

export const Declared = (props: {
  readonly entries: ReadonlyArray<ComparedEntry>
  /** True to show what has changed. */
  readonly isCompared: boolean
}): JSX.Element => {
  const shown = () => groups.filter((group) => props.entries.some((entry) => entry.group === group))
  return (
    <For each={shown()} fallback={<p class="card-body muted">{t().builds.emptyManifest}</p>}>
      {(group) => (
        <GroupTable
          group={group}
          entries={props.entries.filter((entry) => entry.group === group)}
          isCompared={props.isCompared}
        />
      )}
    </For>
  )
}

const GroupTable = (props: {
  readonly group: Group
  readonly entries: ReadonlyArray<ComparedEntry>
  readonly isCompared: boolean
}): JSX.Element => (
  <section class="declared" aria-label={t().builds[props.group]}>
    <h3 class="sub-head">{t().builds[props.group]}</h3>
    <ul>
      <For each={props.entries}>
        {(entry) => (
          <li class="declared-row" classList={{ compared: props.isCompared }}>
            <span class="mono">{entry.name}</span>
            <span class="mono muted">{entry.fn === entry.name ? "" : entry.fn}</span>
            <span class="muted">{entry.detail}</span>
            <Show when={props.isCompared}>
              <span class="end">
                <Show when={entry.change !== "same"} fallback={<span class="visually-hidden">{t().builds.same}</span>}>
                  <ChangeBadge change={entry.change} />
                </Show>
              </span>
            </Show>
          </li>
        )}
      </For>
    </ul>
  </section>
)
