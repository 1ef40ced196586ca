/** Dialogs that create an organization, and that change its plan. */
import type { Organization } from "@weft/client"
import { createSignal, For, type JSX } from "solid-js"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { t } from "../text/Language.ts"
import { admin } from "./Operator.ts"

type PlanName = Organization["plan"]

const planNames: ReadonlyArray<PlanName> = ["Free", "Starter", "Pro", "Scale", "Enterprise", "Self-Host"]

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}

const PlanField = (props: { readonly plan: PlanName; readonly onPlan: (plan: PlanName) => void }): JSX.Element => (
  <label class="field">
    <span>{t().operator.plan}</span>
    <select
      class="input"
      onChange={({ currentTarget }) => props.onPlan(planNames.find((name) => name === currentTarget.value) ?? "Free")}
    >
      <For each={planNames}>
        {(name) => (
          <option value={name} selected={name === props.plan}>
            {name}
          </option>
        )}
      </For>
    </select>
  </label>
)

export const CreateOrg = (props: DialogProps): JSX.Element => {
  const [slug, setSlug] = createSignal("")
  const [plan, setPlan] = createSignal<PlanName>("Self-Host")
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={t().operator.createOrg}
      text={t().operator.createOrgText}
      action={t().operator.createOrg}
      command={`weft admin orgs create ${shellWord(slug() || "acme")} --plan ${plan()}`}
      onConfirm={async () => {
        await admin.createOrg({ slug: slug(), plan: plan() })
        await props.onDone()
      }}
    >
      <label class="field">
        <span>{t().operator.slug}</span>
        <input
          class="input mono"
          required
          placeholder="acme"
          value={slug()}
          onInput={(event) => setSlug(event.currentTarget.value)}
        />
      </label>
      <PlanField plan={plan()} onPlan={setPlan} />
    </Confirm>
  )
}

export const ChangePlan = (props: DialogProps & { readonly org: Organization }): JSX.Element => {
  const [plan, setPlan] = createSignal(props.org.plan)
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={`${t().operator.changePlan}: ${props.org.name}`}
      text={t().operator.changePlanText}
      action={t().operator.changePlan}
      command={`weft admin orgs update ${props.org.slug} --plan ${plan()}`}
      onConfirm={async () => {
        await admin.updateOrg(props.org.org_id, { plan: plan() })
        await props.onDone()
      }}
    >
      <PlanField plan={plan()} onPlan={setPlan} />
    </Confirm>
  )
}
