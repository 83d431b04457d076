import { type ReactNode, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { create, type ReactTestInstance, type ReactTestRenderer } from 'react-test-renderer';
import { gateway, runPage, show } from '../page.js';
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

/** Text of an element with all that is in it. */
const textIn = (node: ReactTestInstance | string): string =>
  typeof node === 'string' ? node : node.children.map(textIn).join('');

let triggers: ReactTestRenderer;
const press = (name: string) => triggers.root.findByProps({ name }).props.onClick();

runPage({
  open() {
    triggers = render(<Triggers />);
  },
  more: () => press('more'),
  refetch: () => press('refetch'),
  batteries() {
    const items = () => batteries.root.findAllByType('li').map(textIn);
    const batteries = render(<Batteries onShow={() => show('batteries', items())} />);
  },
});
