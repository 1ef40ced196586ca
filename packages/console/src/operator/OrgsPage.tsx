/** Organizations with their environments, plans and usage. */
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Organization } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { Confirm } from "../design/Confirm.tsx"
import { CopyButton } from "../design/CopyButton.tsx"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { formatBytes, formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { admin, isOperator } from "./Operator.ts"
import { OperatorFrame } from "./OperatorFrame.tsx"
import { ChangePlan, CreateOrg } from "./OrgDialogs.tsx"

const pageSize = 20

export default function OrgsPage(): JSX.Element {
  const client = useQueryClient()
  const [shown, setShown] = createSignal(pageSize)
  const [isCreating, setCreating] = createSignal(false)
  const [changed, setChanged] = createSignal<Organization | null>(null)
  const orgs = useQuery(() => ({
    queryKey: ["operator", "orgs", shown()],
    queryFn: async () => await admin.listOrgs({ limit: shown() }),
    enabled: isOperator()
  }))
  const refresh = () => client.invalidateQueries({ queryKey: ["operator"] })
  return (
    <OperatorFrame
      title={t().operator.pages.orgs}
      actions={
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {t().operator.createOrg}
        </button>
      }
    >
      <Show when={orgs.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={orgs.data}>
        {(data) => (
          <For
            each={data().items}
            fallback={
              <div class="card">
                <Empty title={t().operator.noOrgsTitle} text={t().operator.noOrgs} />
              </div>
            }
          >
            {(org) => <OrgCard org={org} onChange={() => setChanged(org)} onChanged={refresh} />}
          </For>
        )}
      </Show>
      <Show when={(orgs.data?.total ?? 0) > shown()}>
        <button type="button" class="button" onClick={() => setShown(Math.min(100, shown() + pageSize))}>
          {t().common.more}
        </button>
      </Show>
      <Show when={isCreating()}>
        <CreateOrg onClose={() => setCreating(false)} onDone={refresh} />
      </Show>
      <Show when={changed()} keyed>
        {(org) => <ChangePlan org={org} onClose={() => setChanged(null)} onDone={refresh} />}
      </Show>
    </OperatorFrame>
  )
}

const OrgCard = (props: {
  readonly org: Organization
  readonly onChange: () => void
  readonly onChanged: () => Promise<void>
}): JSX.Element => (
  <section class="card" aria-label={props.org.name}>
    <div class="card-head">
      <h2>{props.org.name}</h2>
      <span class="badge plain">{props.org.plan}</span>
      <span class="muted mono">{props.org.slug}</span>
      <div class="end">
        <button
          type="button"
          class="button"
          aria-label={`${t().operator.changePlan}: ${props.org.name}`}
          onClick={props.onChange}
        >
          {t().operator.changePlan}
        </button>
      </div>
    </div>
    <div class="card-body grid">
      <OrgUsage org={props.org} />
      <Environments org={props.org} onChanged={props.onChanged} />
    </div>
  </section>
)

const OrgUsage = (props: { readonly org: Organization }): JSX.Element => {
  const usage = useQuery(() => ({
    queryKey: ["operator", "usage", props.org.org_id, props.org.plan],
    queryFn: () => admin.getOrgUsage(props.org.org_id)
  }))
  const share = (used: string, limit: number, format: (value: number) => string) =>
    limit < 0 ? t().overview.unlimited(used) : t().overview.of(used, format(limit))
  return (
    <Show when={usage.data} fallback={<Show when={usage.error}>{(error) => <ErrorNotice error={error()} />}</Show>}>
      {(data) => (
        <dl class="facts">
          <dt>{t().overview.runsThisMonth}</dt>
          <dd>{share(formatCount(data().usage.runs_this_period), data().limits.runs_per_month, formatCount)}</dd>
          <dt>{t().operator.storedRuns}</dt>
          <dd>{formatCount(data().usage.call_count)}</dd>
          <dt>{t().overview.callStorage}</dt>
          <dd>{share(formatBytes(data().usage.call_storage_bytes), data().limits.call_storage_bytes, formatBytes)}</dd>
          <dt>{t().overview.fileStorage}</dt>
          <dd>{share(formatBytes(data().usage.file_storage_bytes), data().limits.storage_bytes, formatBytes)}</dd>
          <dt>{t().operator.members}</dt>
          <dd>{share(formatCount(data().usage.team_members), data().limits.team_members, formatCount)}</dd>
        </dl>
      )}
    </Show>
  )
}

/** Environments of one organization that the page lists. */
const envsMax = 100

const Environments = (props: { readonly org: Organization; readonly onChanged: () => Promise<void> }): JSX.Element => {
  const [isAdding, setAdding] = createSignal(false)
  const [name, setName] = createSignal("")
  const envs = useQuery(() => ({
    queryKey: ["operator", "envs", props.org.org_id],
    queryFn: async () => (await admin.listEnvs(props.org.org_id, { limit: envsMax })).items
  }))
  return (
    <div class="org-envs">
      <h3 class="small">{t().operator.environments}</h3>
      <Show when={envs.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <ul>
        <For each={envs.data} fallback={<li class="muted">{t().operator.noEnvironments}</li>}>
          {(env) => (
            <li class="with-copy">
              <strong>{env.name}</strong>
              <span class="mono muted cut">{env.env_id}</span>
              <CopyButton text={env.env_id} label={`${t().events.id}: ${env.name}`} />
            </li>
          )}
        </For>
      </ul>
      <div>
        <button
          type="button"
          class="button"
          aria-label={`${t().operator.createEnv}: ${props.org.name}`}
          onClick={() => setAdding(true)}
        >
          <Icon name="plus" />
          {t().operator.createEnv}
        </button>
      </div>
      <Confirm
        isOpen={isAdding()}
        onClose={() => setAdding(false)}
        title={`${t().operator.createEnv}: ${props.org.name}`}
        action={t().operator.createEnv}
        command={`weft admin envs create ${props.org.slug} ${shellWord(name() || "production")}`}
        onConfirm={async () => {
          await admin.createEnv(props.org.org_id, { name: name() })
          setName("")
          await props.onChanged()
        }}
      >
        <label class="field">
          <span>{t().builds.projectName}</span>
          <input
            class="input mono"
            required
            placeholder="production"
            value={name()}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
      </Confirm>
    </div>
  )
}
