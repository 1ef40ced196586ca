/** The endpoints of active builds, with a request sender and the recent calls of the chosen one. */
import { useSearchParams } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { apiOrigin } from "../api/consoleUrl.ts"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { t } from "../text/Language.ts"
import { EndpointCalls } from "./EndpointCalls.tsx"
import { RequestSender } from "./RequestSender.tsx"
import { type Endpoint, useEndpoints } from "./useEndpoints.ts"
import "./webhooks.css"

export default function WebhooksPage(): JSX.Element {
  const [search, setSearch] = useSearchParams<{ endpoint?: string }>()
  const endpoints = useEndpoints()
  const env = useQuery(() => ({
    queryKey: ["env"],
    queryFn: () => weft.env.get(),
    staleTime: Number.POSITIVE_INFINITY
  }))
  const chosen = () => endpoints.data?.find(({ name }) => name === search.endpoint)
  /** Address of the environment's webhooks. */
  const address = () => (env.data === undefined ? "" : `${apiOrigin}/webhook/${env.data.org_slug}/${env.data.name}`)
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().webhooks.title}</h1>
      </div>
      <Show when={endpoints.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void endpoints.refetch()} />}
      </Show>
      <Show when={endpoints.data}>
        {(data) => (
          <Show
            when={data().length > 0}
            fallback={
              <div class="card">
                <Empty title={t().webhooks.emptyTitle} text={t().webhooks.empty} />
              </div>
            }
          >
            <EndpointTable
              endpoints={data()}
              chosen={chosen()?.name ?? null}
              onChoose={(endpoint) => setSearch({ endpoint })}
            />
            <Show when={chosen()} keyed fallback={<p class="muted">{t().webhooks.choose}</p>}>
              {(endpoint) => (
                <>
                  <RequestSender endpoint={endpoint} url={`${address()}${endpoint.path}`} />
                  <EndpointCalls endpoint={endpoint} />
                </>
              )}
            </Show>
          </Show>
        )}
      </Show>
    </div>
  )
}

const EndpointTable = (props: {
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly chosen: string | null
  readonly onChoose: (name: string) => void
}): JSX.Element => (
  <div class="card table-wrap">
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{t().webhooks.endpoint}</th>
          <th scope="col" class="wide-only">
            {t().overview.function}
          </th>
          <th scope="col" class="wide-only">
            {t().run.project}
          </th>
          <th scope="col">{t().webhooks.auth}</th>
        </tr>
      </thead>
      <tbody>
        <For each={props.endpoints}>
          {(endpoint) => (
            <tr class="build-row" aria-current={endpoint.name === props.chosen}>
              <td>
                <button type="button" class="link mono" onClick={() => props.onChoose(endpoint.name)}>
                  <span class="method">{endpoint.method}</span> {endpoint.path}
                </button>
                <Show when={endpoint.description !== ""}>
                  <div class="muted">{endpoint.description}</div>
                </Show>
              </td>
              <td class="mono muted wide-only">{endpoint.fn}</td>
              <td class="wide-only">{endpoint.project}</td>
              <td class="muted">{t().webhooks.auths[endpoint.needsCredential ? "required" : "none"]}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  </div>
)
