import signal


def pytest_configure() -> None:
    # A shell that starts the tests in the background makes every child ignore Ctrl-C, and some tests send it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
