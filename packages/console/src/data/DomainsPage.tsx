/** Custom domains, with the DNS records that each one needs. */
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Domain } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { CopyButton } from "../design/CopyButton.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import "./data.css"

export default function DomainsPage(): JSX.Element {
  const client = useQueryClient()
  const [isAdding, setAdding] = createSignal(false)
  const [name, setName] = createSignal("")
  const domains = useQuery(() => ({
    queryKey: ["domains"],
    queryFn: async () => (await weft.domains.list({ limit: 100 })).items
  }))
  const refresh = () => client.invalidateQueries({ queryKey: ["domains"] })
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().domains.title}</h1>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {t().domains.add}
          </button>
        </div>
      </div>
      <Show when={domains.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={domains.data}>
        {(data) => (
          <For
            each={data()}
            fallback={
              <div class="card">
                <Empty title={t().domains.emptyTitle} text={t().domains.empty} />
              </div>
            }
          >
            {(domain) => <DomainCard domain={domain} onChanged={() => void refresh()} />}
          </For>
        )}
      </Show>
      <Confirm
        isOpen={isAdding()}
        onClose={() => setAdding(false)}
        title={t().domains.add}
        text={t().domains.addText.replaceAll("`", "")}
        action={t().domains.add}
        command={`weft domains add ${shellWord(name() || "hooks.example.com")}`}
        onConfirm={async () => {
          await weft.domains.add({ domain: name() })
          setName("")
          await refresh()
        }}
      >
        <label class="field">
          <span>{t().domains.host}</span>
          <input
            class="input mono"
            required
            placeholder="hooks.example.com"
            value={name()}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
      </Confirm>
    </div>
  )
}

const badgeOf = ({ status }: Domain): string =>
  status === "active" ? "succeeded" : status === "pending_validation" ? "waiting" : ""

const DomainCard = (props: { readonly domain: Domain; readonly onChanged: () => void }): JSX.Element => {
  const [isRemoving, setRemoving] = createSignal(false)
  const verify = async () => {
    showToast((await weft.domains.verify(props.domain.domain_id)).message)
    props.onChanged()
  }
  return (
    <section class="card" aria-label={props.domain.domain}>
      <div class="card-head">
        <h2 class="mono">{props.domain.domain}</h2>
        <span class={`badge ${badgeOf(props.domain)}`}>
          {t().domains.states[props.domain.status] ?? props.domain.status}
        </span>
        <div class="end row-actions">
          <button type="button" class="button" onClick={() => void verify()}>
            {t().domains.verify}
          </button>
          <button type="button" class="button" onClick={() => setRemoving(true)}>
            {t().domains.remove}
          </button>
        </div>
      </div>
      <h3 class="sub-head">{t().domains.records}</h3>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t().domains.type}</th>
              <th scope="col">{t().domains.name}</th>
              <th scope="col">{t().domains.value}</th>
              <th scope="col" class="wide-only">
                {t().domains.purpose}
              </th>
            </tr>
          </thead>
          <tbody>
            <RecordRow
              name={props.domain.validation_cname_name}
              value={props.domain.validation_cname_value}
              purpose={t().domains.validation}
            />
            <Show when={props.domain.routing_domain}>
              {(target) => <RecordRow name={props.domain.domain} value={target()} purpose={t().domains.routing} />}
            </Show>
          </tbody>
        </table>
      </div>
      <Confirm
        isOpen={isRemoving()}
        onClose={() => setRemoving(false)}
        title={t().domains.removeTitle}
        text={`${props.domain.domain}: ${t().domains.removeText}`}
        action={t().domains.remove}
        command={`weft domains remove ${props.domain.domain}`}
        isDanger
        onConfirm={async () => {
          await weft.domains.remove(props.domain.domain_id)
          props.onChanged()
        }}
      />
    </section>
  )
}

const RecordRow = (props: { readonly name: string; readonly value: string; readonly purpose: string }): JSX.Element => (
  <tr>
    <td class="mono">CNAME</td>
    <td>
      <span class="with-copy mono">
        {props.name}
        <CopyButton text={props.name} label={t().domains.name} />
      </span>
    </td>
    <td>
      <span class="with-copy mono">
        {props.value}
        <CopyButton text={props.value} label={t().domains.value} />
      </span>
    </td>
    <td class="muted wide-only">{props.purpose}</td>
  </tr>
)
