/** The latest canary of a project: the runs of both builds, its rules, and the decision of a person. */
import { useQueryClient } from "@tanstack/solid-query"
import type { Canary } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { Rich } from "../design/Rich.tsx"
import { showToast } from "../design/Toasts.tsx"
import { formatCount, formatDuration, formatPercent, formatRatio } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { type CanaryRule, latencyRatio, rulesOf } from "./CanaryRules.ts"
import { useCanary } from "./useCanary.ts"

const badges: Readonly<Record<Canary["state"], string>> = {
  active: "running",
  promoted: "succeeded",
  rolled_back: "failed",
  replaced: ""
}

const ruleBadges = { holds: "succeeded", broken: "failed", open: "" } as const

export const CanaryCard = (props: { readonly project: string }): JSX.Element => {
  const canary = useCanary(() => props.project)
  return (
    <section class="card" aria-labelledby="canary">
      <div class="card-head">
        <h2 id="canary">{t().canary.title}</h2>
        <Show when={dataOf(canary)}>{(found) => <CanaryHead project={props.project} canary={found()} />}</Show>
      </div>
      <Show when={canary.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show
        when={dataOf(canary)}
        fallback={
          <p class="card-body muted">
            {t().canary.intro} <Rich text={t().canary.none} />
          </p>
        }
      >
        {(found) => <CanaryBody canary={found()} />}
      </Show>
    </section>
  )
}

const CanaryHead = (props: { readonly project: string; readonly canary: Canary }): JSX.Element => {
  const client = useQueryClient()
  const [asked, setAsked] = createSignal<"promote" | "rollback" | null>(null)
  const close = () => setAsked(null)
  const end = async (action: "promote" | "rollback") => {
    await weft.canaries[action](props.project)
    showToast(action === "promote" ? t().canary.promoted : t().canary.rolledBack)
    await client.invalidateQueries({ queryKey: ["canary"] })
    await client.invalidateQueries({ queryKey: ["builds"] })
  }
  return (
    <>
      <span class={`badge ${badges[props.canary.state]}`}>{t().canary.states[props.canary.state]}</span>
      <span class="muted">
        {t().canary.gets(formatPercent(props.canary.settings.share))}{" "}
        <Show when={props.canary.settings.key}>{(key) => t().canary.byKey(key())}</Show>
      </span>
      <Show when={props.canary.state === "active"}>
        <div class="row-actions end">
          <button type="button" class="button danger" onClick={() => setAsked("rollback")}>
            {t().canary.rollBack}
          </button>
          <button type="button" class="button primary" onClick={() => setAsked("promote")}>
            {t().canary.promote}
          </button>
        </div>
      </Show>
      <Confirm
        isOpen={asked() === "promote"}
        onClose={close}
        title={t().canary.promoteTitle}
        text={t().canary.promoteText}
        action={t().canary.promote}
        command="weft canary promote"
        onConfirm={() => end("promote")}
      />
      <Confirm
        isOpen={asked() === "rollback"}
        onClose={close}
        title={t().canary.rollBackTitle}
        text={t().canary.rollBackText}
        action={t().canary.rollBack}
        command="weft canary rollback"
        isDanger
        onConfirm={() => end("rollback")}
      />
    </>
  )
}

const CanaryBody = (props: { readonly canary: Canary }): JSX.Element => (
  <div class="canary">
    <Comparison canary={props.canary} />
    <div class="canary-rules">
      <h3>{t().canary.rules}</h3>
      <ul>
        <For each={rulesOf(props.canary)}>
          {(rule) => (
            <li>
              <span class={`badge ${ruleBadges[rule.state]}`}>{t().canary[rule.state]}</span>
              <span>{ruleText(rule)}</span>
            </li>
          )}
        </For>
      </ul>
      <p class="muted">
        {t().canary.decides(formatCount(props.canary.settings.min_runs))}{" "}
        {props.canary.settings.promote === "auto" ? t().canary.auto : t().canary.manual}
      </p>
      <dl class="facts">
        <Show
          when={props.canary.ended_at}
          fallback={
            <>
              <dt>{t().canary.windowEnds}</dt>
              <dd>
                <Instant at={props.canary.window_ends_at} />
              </dd>
            </>
          }
        >
          {(at) => (
            <>
              <dt>{t().canary.ended}</dt>
              <dd>
                <Instant at={at()} />
              </dd>
              <dt>{t().canary.reason}</dt>
              <dd>{props.canary.reason}</dd>
            </>
          )}
        </Show>
      </dl>
    </div>
  </div>
)

const ruleText = ({ kind, limit }: CanaryRule): string =>
  t().canary[kind](kind === "maxRatio" ? formatRatio(limit) : formatPercent(limit))

type Side = Canary["counts"]["base"]

/** The numbers of both builds, with bars for the share of failures and the latency. */
const Comparison = (props: { readonly canary: Canary }): JSX.Element => {
  const counts = () => props.canary.counts
  const sides = () => [counts().canary, counts().base] as const
  const most = (of: (side: Side) => number) => Math.max(...sides().map(of))
  const ratio = () => latencyRatio(counts())
  return (
    <div class="table-wrap">
      <table class="table comparison">
        <thead>
          <tr>
            <th scope="col">{t().canary.measure}</th>
            <th scope="col">
              {t().canary.canary} <span class="mono">{props.canary.build_id.slice(-8)}</span>
            </th>
            <th scope="col">
              {t().canary.base} <span class="mono">{props.canary.base_build_id.slice(-8)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Row name={t().canary.runs} sides={sides()} format={({ runs }) => formatCount(runs)} />
          <Row name={t().canary.failures} sides={sides()} format={({ failures }) => formatCount(failures)} />
          <Row
            name={t().canary.share}
            sides={sides()}
            format={({ failure_share }) => formatPercent(failure_share)}
            bar={({ failure_share }) =>
              failure_share /
              Math.max(
                0.01,
                most((side) => side.failure_share)
              )
            }
            barClass="failed"
          />
          <Row
            name={t().canary.p95}
            sides={sides()}
            format={({ p95_ms }) => (p95_ms === null ? "–" : formatDuration(p95_ms))}
            bar={({ p95_ms }) =>
              (p95_ms ?? 0) /
              Math.max(
                1,
                most((side) => side.p95_ms ?? 0)
              )
            }
            barClass="running"
          />
          <Show when={ratio() !== null}>
            <tr>
              <th scope="row">{t().canary.ratio}</th>
              <td class="number" colspan="2">
                {formatRatio(ratio() ?? 0)} ×
              </td>
            </tr>
          </Show>
        </tbody>
      </table>
    </div>
  )
}

const Row = (props: {
  readonly name: string
  readonly sides: ReadonlyArray<Side>
  readonly format: (side: Side) => string
  /** Share of the cell's width. */
  readonly bar?: (side: Side) => number
  readonly barClass?: string
}): JSX.Element => (
  <tr>
    <th scope="row">{props.name}</th>
    <For each={props.sides}>
      {(side) => (
        <td class="number">
          {props.format(side)}
          <Show when={props.bar}>
            {(bar) => (
              <div class="track thin" aria-hidden="true">
                <div class={`bar ${props.barClass ?? ""}`} style={{ width: `${bar()(side) * 100}%` }} />
              </div>
            )}
          </Show>
        </td>
      )}
    </For>
  </tr>
)
