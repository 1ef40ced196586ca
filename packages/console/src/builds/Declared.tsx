/** Functions, triggers, tools and capabilities of a build, with the changes from another build. */
import { For, type JSX, Show } from "solid-js"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { type Change, type ComparedEntry, countChanges, type Group, groups } from "./Entries.ts"

const badgeOf: Readonly<Record<Change, string>> = {
  added: "succeeded",
  removed: "failed",
  changed: "waiting",
  same: ""
}

const ChangeBadge = (props: { readonly change: Change }): JSX.Element => (
  <span class={`badge ${badgeOf[props.change]}`}>{t().builds[props.change]}</span>
)

/** Numbers of added, removed and changed entries. */
export const ChangeSummary = (props: { readonly entries: ReadonlyArray<ComparedEntry> }): JSX.Element => {
  const counts = () => countChanges(props.entries)
  const shown = () => (["added", "removed", "changed"] as const).filter((change) => counts()[change] > 0)
  return (
    <span class="tags">
      <For each={shown()} fallback={t().builds.noChanges}>
        {(change) => (
          <span class={`badge ${badgeOf[change]}`}>
            {formatCount(counts()[change])} {t().builds[change]}
          </span>
        )}
      </For>
    </span>
  )
}

/** The changes alone, for dialogs. New capabilities are first, because they need attention. */
export const ChangeList = (props: { readonly entries: ReadonlyArray<ComparedEntry> }): JSX.Element => {
  const changes = () =>
    props.entries
      .filter(({ change }) => change !== "same")
      .sort((a, b) => Number(b.group === "capabilities") - Number(a.group === "capabilities"))
  return (
    <Show when={changes().length > 0} fallback={<p class="muted">{t().builds.noChanges}</p>}>
      {/* It scrolls, so that the keyboard must reach it. */}
      <ul class="changes" tabindex="0" aria-label={t().builds.changes}>
        <For each={changes()}>
          {({ group, name, detail, change }) => (
            <li>
              <ChangeBadge change={change} />
              <span>
                <span class="mono">{name}</span>{" "}
                <span class="muted">{group === "capabilities" ? detail : t().builds[group]}</span>
              </span>
            </li>
          )}
        </For>
      </ul>
    </Show>
  )
}

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
