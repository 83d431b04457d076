import { type ReactNode, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { create, type ReactTestRenderer } from 'react-test-renderer';
import { gateway, runPage } from '../page.js';
import { Batteries } from './Batteries.js';
import { createEnvironment } from './environment.js';
import { Triggers } from './Triggers.js';

const environment = createEnvironment(gateway);

/** Renders without a browser. */
const render = (content: ReactNode) =>
  create(
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="Loading">{content}</Suspense>
    </RelayEnvironmentProvider>,
  );

let triggers: ReactTestRenderer;
const press = (name: string) => triggers.root.findByProps({ name }).props.onClick();

runPage({
  open() {
    triggers = render(<Triggers />);
  },
  more: () => press('more'),
  refetch: () => press('refetch'),
  batteries: () => void render(<Batteries />),
});
