/** The routes, behind the sign-in. Each page is a file of its own, which its first visit loads. */
import { A, Route, Router } from "@solidjs/router"
import { QueryClientProvider } from "@tanstack/solid-query"
import { type JSX, lazy, Match, onMount, Suspense, Switch } from "solid-js"
import { consolePath } from "../api/consoleUrl.ts"
import { queryClient } from "../api/queries.ts"
import { isEmbedded } from "../embed/Host.ts"
import { OverviewPage } from "../overview/OverviewPage.tsx"
import { RunsPage } from "../runs/RunsPage.tsx"
import { loadSession, sessionState } from "../session/Session.ts"
import { SignInPage } from "../session/SignInPage.tsx"
import { t } from "../text/Language.ts"
import { Shell } from "./Shell.tsx"

const RunPage = lazy(() => import("../runs/RunPage.tsx"))
const OperationsPage = lazy(() => import("../operations/OperationsPage.tsx"))
const AlertsPage = lazy(() => import("../alerts/AlertsPage.tsx"))
const AlertPage = lazy(() => import("../alerts/AlertPage.tsx"))
const EventsPage = lazy(() => import("../events/EventsPage.tsx"))
const EventPage = lazy(() => import("../events/EventPage.tsx"))
const StreamsPage = lazy(() => import("../streams/StreamsPage.tsx"))
const StreamPage = lazy(() => import("../streams/StreamPage.tsx"))
const FunctionsPage = lazy(() => import("../builds/FunctionsPage.tsx"))
const WebhooksPage = lazy(() => import("../webhooks/WebhooksPage.tsx"))
const DeadLettersPage = lazy(() => import("../waiting/DeadLettersPage.tsx"))
const DeliveriesPage = lazy(() => import("../waiting/DeliveriesPage.tsx"))
const PausesPage = lazy(() => import("../waiting/PausesPage.tsx"))
const WaitingPage = lazy(() => import("../waiting/WaitingPage.tsx"))
const ProjectsPage = lazy(() => import("../builds/ProjectsPage.tsx"))
const ProjectPage = lazy(() => import("../builds/ProjectPage.tsx"))
const EditorPage = lazy(() => import("../editor/EditorPage.tsx"))
const SecretsPage = lazy(() => import("../data/SecretsPage.tsx"))
const FilesPage = lazy(() => import("../data/FilesPage.tsx"))
const DomainsPage = lazy(() => import("../data/DomainsPage.tsx"))
const AuditPage = lazy(() => import("../access/AuditPage.tsx"))
const OrgsPage = lazy(() => import("../operator/OrgsPage.tsx"))
const NodePage = lazy(() => import("../operator/NodePage.tsx"))
const QuarantinePage = lazy(() => import("../operator/QuarantinePage.tsx"))
const PlansPage = lazy(() => import("../operator/PlansPage.tsx"))
const SchedulesPage = lazy(() => import("../schedules/SchedulesPage.tsx"))
const AccessPage = lazy(() => import("../access/AccessPage.tsx"))

export const App = (): JSX.Element => {
  onMount(() => void loadSession())
  return (
    <Switch>
      <Match when={sessionState().status === "signed-in"}>
        <QueryClientProvider client={queryClient}>
          <Router base={consolePath} root={Frame}>
            <Route path="/" component={OverviewPage} />
            <Route path="/runs" component={RunsPage} />
            <Route path="/runs/:id" component={RunPage} />
            <Route path="/operations" component={OperationsPage} />
            <Route path="/alerts" component={AlertsPage} />
            <Route path="/alerts/:id" component={AlertPage} />
            <Route path="/events" component={EventsPage} />
            <Route path="/events/:id" component={EventPage} />
            <Route path="/streams" component={StreamsPage} />
            <Route path="/streams/:id" component={StreamPage} />
            <Route path="/functions" component={FunctionsPage} />
            <Route path="/webhooks" component={WebhooksPage} />
            <Route path="/waiting" component={WaitingPage} />
            <Route path="/waiting/deliveries" component={DeliveriesPage} />
            <Route path="/waiting/dead-letters" component={DeadLettersPage} />
            <Route path="/waiting/pauses" component={PausesPage} />
            <Route path="/projects" component={ProjectsPage} />
            <Route path="/projects/:id" component={ProjectPage} />
            <Route path="/editor" component={EditorPage} />
            <Route path="/secrets" component={SecretsPage} />
            <Route path="/files" component={FilesPage} />
            <Route path="/domains" component={DomainsPage} />
            <Route path="/audit" component={AuditPage} />
            <Route path="/schedules" component={SchedulesPage} />
            <Route path="/access" component={AccessPage} />
            <Route path="/operator" component={OrgsPage} />
            <Route path="/operator/node" component={NodePage} />
            <Route path="/operator/quarantine" component={QuarantinePage} />
            <Route path="/operator/plans" component={PlansPage} />
            <Route path="*" component={NotFoundPage} />
          </Router>
        </QueryClientProvider>
      </Match>
      <Match when={isEmbedded && sessionState().status === "ended"}>
        <p class="page notice" role="alert">
          {t().signIn.endedEmbedded}
        </p>
      </Match>
      <Match when={!isEmbedded && sessionState().status !== "unknown"}>
        <SignInPage />
      </Match>
    </Switch>
  )
}

const Frame = (props: { readonly children?: JSX.Element }): JSX.Element => (
  <Shell>
    <Suspense>{props.children}</Suspense>
  </Shell>
)

const NotFoundPage = (): JSX.Element => (
  <div class="page">
    <div class="page-head">
      <h1>{t().app.notFound}</h1>
    </div>
    <p class="muted">{t().app.notFoundHint}</p>
    <p>
      <A class="button" href="/">
        {t().nav.overview}
      </A>
    </p>
  </div>
)
