/** All nodes, and the one that answers: its version, its queues, its runners and all of its metrics. */
import { useQuery } from "@tanstack/solid-query"
import type { NodeStatus, NodeSummary } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { dataOf } from "../api/queries.ts"
import { CommandHint } from "../design/CommandHint.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { formatCount, formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { admin, isOperator } from "./Operator.ts"
import { OperatorFrame } from "./OperatorFrame.tsx"
import "../overview/overview.css"

/** Interval of updates, in milliseconds. The server reads its metrics at most once a second. */
const refreshMs = 5000

/** Nodes that the page lists. */
const nodesMax = 100

export default function NodePage(): JSX.Element {
  const node = useQuery(() => ({
    queryKey: ["operator", "node"],
    queryFn: () => admin.getNode(),
    enabled: isOperator(),
    refetchInterval: refreshMs
  }))
  const nodes = useQuery(() => ({
    queryKey: ["operator", "nodes"],
    queryFn: async () => (await admin.listNodes({ limit: nodesMax })).items,
    enabled: isOperator(),
    refetchInterval: refreshMs
  }))
  return (
    <OperatorFrame title={t().operator.pages.node}>
      <Show when={dataOf(nodes)}>{(data) => <NodeTable nodes={data()} />}</Show>
      <Show when={node.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={node.data}>
        {(data) => (
          <>
            <p class="muted">
              {t().operator.nodeIntro(data().version, data().git_sha, formatInstant(data().start_time))}
            </p>
            <div class="tiles">
              <For each={tiles}>
                {(name) => (
                  <div class="card tile">
                    <span class="tile-name">{t().operator.tiles[name]}</span>
                    <strong class="number">{formatCount(sumOf(data(), `weft_${name}`))}</strong>
                  </div>
                )}
              </For>
            </div>
            <Metrics node={data()} />
          </>
        )}
      </Show>
      <div class="card">
        <CommandHint command="weft admin nodes" />
      </div>
    </OperatorFrame>
  )
}

const NodeTable = (props: { readonly nodes: ReadonlyArray<NodeSummary> }): JSX.Element => (
  <section class="card table-wrap" aria-label={t().operator.pages.node}>
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{t().operator.pages.node}</th>
          <th scope="col">{t().operator.version}</th>
          <th scope="col">{t().operator.tiles.deliveries_running}</th>
          <th scope="col" class="wide-only">
            {t().operator.started}
          </th>
        </tr>
      </thead>
      <tbody>
        <For each={props.nodes}>
          {(node) => (
            <tr>
              <td class="mono">{node.node_id}</td>
              <td>{node.version}</td>
              <td class="number">{`${formatCount(node.deliveries_running)} / ${formatCount(node.deliveries_max)}`}</td>
              <td class="muted wide-only">{formatInstant(node.start_time)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  </section>
)

const tiles = [
  "deliveries_running",
  "deliveries_waiting",
  "records_pending",
  "subscriptions",
  "sandbox_runner_deaths_total",
  "sandbox_quarantined"
] as const

/** Returns the sum of a metric over its labels. */
const sumOf = ({ metrics }: NodeStatus, wanted: string): number =>
  metrics.reduce((sum, { name, value }) => (name === wanted ? sum + value : sum), 0)

const Metrics = (props: { readonly node: NodeStatus }): JSX.Element => (
  <div class="card">
    <div class="card-head">
      <h2 id="metrics">{t().operator.metrics}</h2>
    </div>
    <section class="table-wrap" tabindex="0" aria-labelledby="metrics">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t().builds.projectName}</th>
            <th scope="col">{t().operator.value}</th>
            <th scope="col" class="wide-only">
              {t().operator.meaning}
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.node.metrics}>
            {({ name, labels, value, help }) => (
              <tr>
                <td class="mono">
                  {name}
                  <span class="muted"> {labelsOf(labels)}</span>
                </td>
                <td class="number">{formatValue(value)}</td>
                <td class="muted wide-only">{help}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </section>
  </div>
)

const labelsOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")

const formatValue = (value: number): string => (Number.isInteger(value) ? formatCount(value) : value.toFixed(3))
